import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw, openRaw } from '../../support/raw-client.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { SeenRequest, Upstream } from '../../support/stage/upstream.ts';

const FILM = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => index % 251));

/** A provider of one finished video, whose bytes depend on the variant asked for. */
async function play(response: ServerResponse, request: SeenRequest): Promise<void> {
  const url = new URL(request.url, 'http://provider');
  if (!url.pathname.endsWith('/content')) {
    return sendJson(response, 200, { id: 'up_1', object: 'video', status: 'completed' });
  }
  const variant = url.searchParams.get('variant');
  if (variant === 'gone') return sendJson(response, 404, { error: { message: 'gone' } });
  if (variant === 'down') return sendJson(response, 500, { error: { message: 'broken inside' } });
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  if (range) {
    const [from, to] = [Number(range[1]), Number(range[2])];
    response.writeHead(206, {
      'content-type': 'video/mp4',
      'content-range': `bytes ${from}-${to}/${FILM.length}`,
      'content-length': to - from + 1,
      'set-cookie': 'secret=1',
    });
    return void response.end(FILM.subarray(from, to + 1));
  }
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': FILM.length });
  if (variant === 'broken') {
    response.write(FILM.subarray(0, 100_000));
    return void setTimeout(() => response.destroy(), 50);
  }
  if (variant === 'endless') return void response.write(FILM.subarray(0, 100_000));
  response.end(FILM);
  await once(response, 'close');
}

describe('the content of a video', () => {
  let upstream: Upstream;
  let gateway: TestGateway;
  let path: string;

  beforeAll(async () => {
    upstream = await startUpstream(play);
    gateway = await startGateway(
      {
        providers: [
          {
            name: 'studio',
            type: 'custom',
            base_url: `${upstream.url}/v1`,
            api_key: '${secret:env:STUDIO_KEY}',
            protocols: { videos: true },
          },
        ],
        models: [{ name: 'v/film', type: 'video', routes: [{ provider: 'studio' }] }],
      },
      { env: { STUDIO_KEY: 'provider-secret' } },
    );
    const made = await gateway.call('POST', '/v1/videos', {
      body: { model: 'v/film', prompt: 'x' },
    });
    expect(made.body.status).toBe('completed');
    path = `${gateway.url}/v1/videos/${made.body.id}/content`;
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const ask = (query = '', headers: Record<string, string> = {}) =>
    askRaw(path + query, { method: 'GET', key: gateway.clientKey, headers });

  it('comes whole, byte for byte, with its length', async () => {
    const answer = await ask();
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('video/mp4');
    expect(answer.headers['content-length']).toBe(String(FILM.length));
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expect(answer.body.equals(FILM)).toBe(true);
    const sent = upstream.seen.at(-1);
    expect(sent?.headers.authorization).toBe('Bearer provider-secret');
    expect(sent?.url).toBe('/v1/videos/up_1/content');
  });

  it('comes in ranges where the provider knows them', async () => {
    const answer = await ask('', { range: 'bytes=1000-1999' });
    expect(answer.status).toBe(206);
    expect(answer.headers['content-range']).toBe(`bytes 1000-1999/${FILM.length}`);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.body.equals(FILM.subarray(1000, 2000))).toBe(true);
  });

  it('comes as the variant that is asked for', async () => {
    await ask('?variant=thumbnail&key=1');
    expect(upstream.seen.at(-1)?.url).toBe('/v1/videos/up_1/content?variant=thumbnail');
  });

  it('is not found when the provider no longer has it', async () => {
    const answer = await ask('?variant=gone');
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body.toString())).toEqual({ error: expect.any(String) });
  });

  it('is not to be had while the provider fails', async () => {
    const answer = await ask('?variant=down');
    expect(answer.status).toBe(503);
    expect(answer.body.toString()).not.toContain('broken inside');
  });

  it('breaks off for the client when it breaks off at the provider', async () => {
    const answer = await ask('?variant=broken');
    expect(answer.status).toBe(200);
    expect(answer.complete).toBe(false);
  });

  it('is left alone at the provider when the client goes away', async () => {
    const stream = await openRaw(`${path}?variant=endless`, {
      method: 'GET',
      key: gateway.clientKey,
    });
    await eventually(() => stream.chunks.length > 0);
    stream.destroy();
    await eventually(() => upstream.seen.at(-1)?.aborted);
  });

  it('waits for a client that takes it slowly', async () => {
    const stream = await openRaw(path, { method: 'GET', key: gateway.clientKey });
    stream.response.pause();
    await new Promise((resolve) => setTimeout(resolve, 100));
    stream.response.resume();
    expect(await stream.ended).toEqual({ complete: true });
    expect(Buffer.concat(stream.chunks.map(({ bytes }) => bytes)).equals(FILM)).toBe(true);
  });
});
