import { Buffer } from 'node:buffer';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import { sendJson, startUpstream } from './upstream.ts';
import type { SeenRequest, Upstream } from './upstream.ts';

/** The smallest picture that decoders take. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** More than one piece of what keeps it. */
export const MP4 = Buffer.concat([
  Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0', 'latin1'),
  Buffer.alloc(9 * 1024 * 1024, 'frame of a film '),
]);
export const MP3 = Buffer.from('ID3\x04\0\0\0\0\0\0sound of a fox', 'latin1');

const FILES: Readonly<Record<string, Buffer>> = {
  '/photo.png': PNG,
  '/clip.mp4': MP4,
  '/sound.mp3': MP3,
  '/page.png': Buffer.from('<html><script>alert(1)</script></html>'),
};

/** A host of media, a provider of every protocol, and a provider that keeps media itself. */
export interface MediaStudio extends Upstream {
  /** Where a redirect of `/moved` leads. */
  target: string;
  /** Of media that was registered here, as the provider tells it. */
  state: { status: string; download_url: string };
  /** True: it fails whatever it is asked about media. */
  isDown: boolean;
  /** What providers got, the latest first. */
  asked(): SeenRequest[];
}

export async function startMediaStudio(): Promise<MediaStudio> {
  const mock = await startMockServer();
  let registered = 0;
  const upstream = await startUpstream(async (response, request) => {
    const { method, url } = request;
    const file = FILES[url];
    if (file) {
      response.writeHead(200, { 'content-type': 'image/png' });
      response.end(file);
    } else if (url === '/moved') {
      response.writeHead(302, { location: studio.target }).end();
    } else if (url.startsWith('/v1/assets')) {
      if (studio.isDown) return sendJson(response, 503, { error: 'down' });
      const id = `ext-${++registered}`;
      if (method === 'POST') return sendJson(response, 200, { data: { asset: id } });
      sendJson(response, 200, studio.state);
    } else if (url.startsWith('/v1')) {
      const answer = await fetch(mock.url + url, {
        method,
        headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
        ...(request.body.length > 0 && { body: new Uint8Array(request.body) }),
      });
      const type = answer.headers.get('content-type') ?? '';
      response.writeHead(answer.status, { 'content-type': type });
      response.end(Buffer.from(await answer.arrayBuffer()));
    } else if (url !== '/never') sendJson(response, 404, {});
  });
  const studio: MediaStudio = {
    ...upstream,
    target: 'http://169.254.169.254/latest/meta-data',
    state: { status: 'Processing', download_url: '' },
    isDown: false,
    asked: () =>
      upstream.seen
        .filter(({ method, url }) => method === 'POST' && url.startsWith('/v1/'))
        .toReversed(),
    async close() {
      await upstream.close();
      await mock.close();
    },
  };
  return studio;
}
