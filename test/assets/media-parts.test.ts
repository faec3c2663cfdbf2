import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { createSigner } from '../../src/core/seal.ts';
import { fromBytes } from '../../src/core/memory/spooled-body.ts';
import { readRange } from '../../src/assets/media-answer.ts';
import { createMediaLinks } from '../../src/assets/media-links.ts';
import { openMediaMount } from '../../src/assets/media-mount.ts';
import { ASSET_TYPES, sniffMedia } from '../../src/assets/sniff-media.ts';
import { createFakeClock } from '../support/fake-clock.ts';

describe('readRange', () => {
  it.each([
    ['bytes=2-4', { start: 2, end: 5 }],
    ['bytes=4-', { start: 4, end: 10 }],
    ['bytes=-3', { start: 7, end: 10 }],
    ['bytes=-30', { start: 0, end: 10 }],
    ['bytes=9-9', { start: 9, end: 10 }],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=-', undefined],
    ['bytes=5-4', undefined],
    ['bytes=0-1,3-4', undefined],
    [undefined, undefined],
  ])('reads %s of ten bytes', (header, range) => {
    expect(readRange(header, 10)).toEqual(range);
  });

  it('never leaves the body', () => {
    const number = fc.oneof(fc.constant(''), fc.nat(300).map(String), fc.constant('9'.repeat(30)));
    fc.assert(
      fc.property(number, number, fc.nat(200), (first, last, size) => {
        const range = readRange(`bytes=${first}-${last}`, size);
        if (range === undefined || range === 'unsatisfiable') return;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.end).toBeGreaterThan(range.start);
        expect(range.end).toBeLessThanOrEqual(size);
      }),
    );
  });
});

describe('links', () => {
  const masters = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const linksWith = (keys: Buffer[], clock = createFakeClock()) =>
    createMediaLinks({ signer: createSigner(keys, 'media link'), clock, lifetimeMs: 60_000 });
  const queryOf = (link: string): URLSearchParams => new URL(link).searchParams;

  it('hold for their time', () => {
    const clock = createFakeClock();
    const links = linksWith(masters, clock);
    const query = queryOf(links.create('media_1', 'https://a.example'));
    expect(links.secondsLeft('media_1', query)).toBe(60);
    clock.advance(59_000);
    expect(links.secondsLeft('media_1', query)).toBe(1);
    clock.advance(1_000);
    expect(links.secondsLeft('media_1', query)).toBeUndefined();
  });

  it('outlive a change of the master key, and are worth nothing under another', () => {
    const query = queryOf(linksWith([masters[1]!]).create('media_1', 'https://a.example'));
    expect(linksWith(masters).secondsLeft('media_1', query)).toBe(60);
    expect(linksWith([masters[0]!]).secondsLeft('media_1', query)).toBeUndefined();
    expect(linksWith(masters).secondsLeft('media_2', query)).toBeUndefined();
  });

  it('are not to be made up', () => {
    const links = linksWith(masters);
    fc.assert(
      fc.property(fc.string(), fc.string(), (expires, signature) => {
        const query = new URLSearchParams({ expires, signature });
        expect(links.secondsLeft('media_1', query)).toBeUndefined();
      }),
    );
  });
});

describe('sniffMedia', () => {
  it('takes nothing that a browser would run', () => {
    for (const text of ['<svg xmlns="http://www.w3.org/2000/svg">', '<!doctype html>', '', 'GIF8'])
      for (const type of ASSET_TYPES) expect(sniffMedia(Buffer.from(text), type)).toBeUndefined();
  });

  it('knows containers by what they hold', () => {
    const ftyp = (brand: string): Buffer => Buffer.from(`\0\0\0\x20ftyp${brand}`, 'latin1');
    expect(sniffMedia(ftyp('avif'), 'Image')).toBe('image/avif');
    expect(sniffMedia(ftyp('avif'), 'Video')).toBeUndefined();
    expect(sniffMedia(ftyp('M4A '), 'Audio')).toBe('audio/mp4');
    expect(sniffMedia(ftyp('M4A '), 'Video')).toBeUndefined();
    expect(sniffMedia(ftyp('isom'), 'Video')).toBe('video/mp4');
    expect(sniffMedia(Buffer.from('RIFF\0\0\0\0WEBP'), 'Image')).toBe('image/webp');
    expect(sniffMedia(Buffer.from('RIFF\0\0\0\0WAVE'), 'Image')).toBeUndefined();
  });
});

/** The driver for S3 needs a package that users of others need not install. */
function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

describe('a mount', () => {
  const content = Buffer.alloc(9 * 1024 * 1024 + 17, 'abcdefg');

  /** Objects by PUT, GET, HEAD and DELETE, as S3 and its like serve them. */
  async function startObjects(): Promise<{
    url: string;
    objects: Map<string, Buffer>;
    close(): void;
  }> {
    const objects = new Map<string, Buffer>();
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const key = request.url ?? '';
        if (request.method === 'PUT') objects.set(key, Buffer.concat(chunks));
        if (request.method === 'DELETE') objects.delete(key);
        const found = objects.get(key);
        const isRead = request.method === 'GET' || request.method === 'HEAD';
        response.writeHead(isRead && !found ? 404 : 200);
        response.end(request.method === 'GET' ? found : undefined);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const close = (): void => {
      server.close();
      server.closeAllConnections();
    };
    return { url: `http://127.0.0.1:${port}/bucket`, objects, close };
  }

  const keys = { region: 'eu', accessKeyId: 'id', secretAccessKey: 'secret' };
  const REMOTE = [
    { driver: 'http', at: (base: string) => ({ driver: 'http', options: { base } }) },
    {
      driver: 's3',
      needs: 'aws4fetch',
      at: (url: string) => ({
        driver: 's3',
        options: { ...keys, endpoint: new URL(url).origin, bucket: 'bucket' },
      }),
    },
  ].filter(({ needs }) => needs === undefined || isInstalled(needs));

  const read = async (pieces: AsyncIterable<Buffer>): Promise<Buffer> => {
    const all: Buffer[] = [];
    for await (const piece of pieces) all.push(piece);
    return Buffer.concat(all);
  };

  it.each(REMOTE)('keeps media as objects of a remote store ($driver)', async (remoteDriver) => {
    const remote = await startObjects();
    try {
      const mount = await openMediaMount(remoteDriver.at(remote.url), systemClock);
      await mount.write('media_1', fromBytes(content));
      expect([...remote.objects.keys()]).toEqual(
        [0, 1, 2].map((i) => `/bucket/media/media_1/${i}`),
      );
      const body = mount.read('media_1', content.length);
      expect((await read(body.open())).equals(content)).toBe(true);
      const [start, end] = [4_194_000, 8_400_000];
      expect((await read(body.open(start, end))).equals(content.subarray(start, end))).toBe(true);
      await mount.remove('media_1', content.length);
      expect(remote.objects.size).toBe(0);
      await expect(read(body.open())).rejects.toThrow('media_1');
      await mount.close();
    } finally {
      remote.close();
    }
  });

  it('gives nothing for the whole that is only a part', async () => {
    const remote = await startObjects();
    try {
      const mount = await openMediaMount(
        { driver: 'http', options: { base: remote.url } },
        systemClock,
      );
      await mount.write('media_1', fromBytes(content));
      remote.objects.set('/bucket/media/media_1/1', Buffer.from('torn'));
      await expect(read(mount.read('media_1', content.length).open())).rejects.toThrow('not whole');
    } finally {
      remote.close();
    }
  });

  it('waits for no store that does not answer', async () => {
    const clock = createFakeClock();
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    try {
      const { port } = silent.address() as AddressInfo;
      const options = { base: `http://127.0.0.1:${port}` };
      const mount = await openMediaMount({ driver: 'http', options }, clock);
      const lost = expect(read(mount.read('media_1', 1).open())).rejects.toThrow('cannot be read');
      await once(silent, 'request');
      clock.advance(60_000);
      await lost;
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  it('says which driver there is not, and what one needs', async () => {
    await expect(openMediaMount({ driver: 'floppy' }, systemClock)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('floppy'),
    });
  });
});
