import { randomBytes } from 'node:crypto';
import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttp1Transport } from '../../src/upstream/http1/http1-transport.ts';
import type { Transport } from '../../src/upstream/transport.ts';
import { verifies } from '../requirements.ts';
import { exchange, Upstreams } from './exchange-log.ts';

const TEXT = '{"text":"grüße, wörld"}'.repeat(200);

const ENCODED: Array<[coding: string, body: Buffer]> = [
  ['gzip', gzipSync(TEXT)],
  ['GZIP', gzipSync(TEXT)],
  ['x-gzip', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['deflate', deflateRawSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['gzip, identity', gzipSync(TEXT)],
];

const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const MIB = 1024 * 1024;
/** As often as wanted in a row, these are one answer. */
const MIB_IN_GZIP = gzipSync(Buffer.alloc(MIB));

let upstreams: Upstreams;
let transport: Transport;

beforeEach(() => {
  upstreams = new Upstreams();
  transport = createHttp1Transport({ maxDecodedBytes: 1024 * 1024 });
});

afterEach(async () => {
  await transport.close();
  await upstreams.closeAll();
});

async function answer(status: number, headers: OutgoingHttpHeaders, body: Buffer): Promise<string> {
  const upstream = await upstreams.http((_request, response) => {
    response.writeHead(status, { 'content-length': body.length, ...headers }).end(body);
  });
  return upstream.url;
}

describe('a compressed answer', () => {
  it.each(
    ENCODED.flatMap(([coding, body]) => [200, 404].map((status) => ({ coding, body, status }))),
  )(
    verifies('routing.content-encoding', 'of coding $coding and status $status arrives decoded'),
    async ({ coding, body, status }) => {
      const log = exchange(
        transport,
        await answer(status, { 'content-encoding': coding, etag: 'x' }, body),
      );
      await log.finished;
      expect(log.events).toEqual(['head', 'data', 'end']);
      expect(log.status).toBe(status);
      expect(log.text()).toBe(TEXT);
      expect(log.headers).not.toHaveProperty('content-encoding');
      expect(log.headers).not.toHaveProperty('content-length');
      expect(log.headers['etag']).toBe('x');
    },
  );

  it(
    verifies('routing.content-encoding', 'that is an event stream is decoded event by event'),
    async () => {
      let send: (event: string) => void = () => undefined;
      const upstream = await upstreams.http((_request, response) => {
        response.writeHead(200, {
          'content-type': 'text/event-stream',
          'content-encoding': 'gzip',
        });
        const gzip = createGzip();
        gzip.pipe(response);
        send = (event) => {
          gzip.write(`data: ${event}\n\n`);
          gzip.flush();
          if (event === 'three') gzip.end();
        };
        send('one');
      });
      const log = exchange(transport, upstream.url);
      const next = ['two', 'three'];
      // The next event is only sent once the one before has come out of the decoder.
      log.onChunk = () => {
        const event = next.shift();
        if (event) send(event);
      };
      await log.finished;
      expect(log.text()).toBe('data: one\n\ndata: two\n\ndata: three\n\n');
    },
  );

  it('arrives as it was sent where the request asks for that', async () => {
    const body = gzipSync(TEXT);
    const url = await answer(200, { 'content-encoding': 'gzip' }, body);
    const log = exchange(transport, url, { raw: true });
    await log.finished;
    expect(Buffer.concat(log.chunks).equals(body)).toBe(true);
    expect(log.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(body.length),
    });
  });

  it.each([
    ['zstd', undefined],
    ['gzip, br', undefined],
    ['something', undefined],
    ['gzip', 'identity'],
    ['br', 'gzip, br;q=0'],
  ])(
    verifies('upstream.encoding.not-offered', 'in %s is not read where %s was offered'),
    async (coding, offered) => {
      const headers = { 'content-encoding': coding, 'retry-after': '9' };
      const log = exchange(
        transport,
        await answer(429, headers, gzipSync(TEXT)),
        offered === undefined ? {} : { headers: ['accept-encoding', offered] },
      );
      await log.finished;
      expect(log.events).toEqual(['error']);
      expect(log.error).toMatchObject({
        kind: 'encoding',
        answer: { status: 429, headers: { 'retry-after': '9' } },
      });
    },
  );

  it.each([
    ['gzip', '*'],
    ['x-gzip', 'br, GZIP ; q=0.1'],
    ['identity', 'gzip'],
    ['', 'gzip'],
  ])('in %j is read where %s was offered', async (coding, offered) => {
    const body = coding.includes('gzip') ? gzipSync(TEXT) : Buffer.from(TEXT);
    const url = await answer(200, { 'content-encoding': coding }, body);
    const log = exchange(transport, url, { headers: ['accept-encoding', offered] });
    await log.finished;
    expect(log.text()).toBe(TEXT);
  });

  it('without a body ends', async () => {
    const log = exchange(
      transport,
      await answer(200, { 'content-encoding': 'gzip' }, Buffer.alloc(0)),
    );
    await log.finished;
    expect(log.events).toEqual(['head', 'end']);
  });

  it.each([
    ['gzip', Buffer.from('not gzip at all')],
    ['gzip', gzipSync(TEXT).subarray(0, 40)],
    ['br', Buffer.from('not brotli at all')],
  ])('that is not valid %s fails as protocol', async (coding, body) => {
    const log = exchange(transport, await answer(200, { 'content-encoding': coding }, body));
    await log.finished;
    expect(log.error?.kind).toBe('protocol');
    expect(log.ended).toBe(false);
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(8 * MIB))],
    ['br', brotliCompressSync(Buffer.alloc(8 * MIB), QUICK)],
  ])('of a few bytes of %s cannot decode to more than the bound', async (coding, body) => {
    expect(body.length).toBeLessThan(16 * 1024);
    const log = exchange(transport, await answer(200, { 'content-encoding': coding }, body));
    await log.finished;
    expect(log.error?.kind).toBe('protocol');
    expect(log.error?.message).toContain('1048576');
    expect(Buffer.concat(log.chunks).length).toBeLessThanOrEqual(1024 * 1024);
  });

  it.each([
    ['as many bytes as the bound', 'end', []],
    ['one byte more than the bound', 'error', [gzipSync(Buffer.alloc(1))]],
  ])('that decodes to %s comes to this: %s', async (_of, event, more) => {
    const body = Buffer.concat([MIB_IN_GZIP, ...more]);
    const log = exchange(transport, await answer(200, { 'content-encoding': 'gzip' }, body));
    await log.finished;
    expect(log.events.at(-1)).toBe(event);
  });

  it.each([
    ['gzip', Buffer.concat(Array<Buffer>(16).fill(MIB_IN_GZIP))],
    ['deflate', deflateSync(Buffer.alloc(16 * MIB))],
    ['br', brotliCompressSync(Buffer.alloc(16 * MIB), QUICK)],
  ])(
    verifies(
      'upstream.encoding.bounded',
      'of %s is undone in small slices, between which others get their turn, up to the bound',
    ),
    async (coding, body) => {
      expect(body.length).toBeLessThan(128 * 1024);
      let turns = 0;
      let isOver = false;
      const turn = (): void => {
        turns++;
        if (!isOver) setImmediate(turn);
      };
      const log = exchange(transport, await answer(200, { 'content-encoding': coding }, body));
      await log.head;
      turn();
      await log.finished;
      isOver = true;
      expect(log.error?.kind).toBe('protocol');
      const sizes = log.chunks.map(({ length }) => length);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(1024 * 1024);
      expect(turns).toBeGreaterThan(sizes.length / 2);
    },
  );

  it('holds back the server while it is paused, and goes on afterwards', async () => {
    const log = exchange(
      transport,
      await answer(200, { 'content-encoding': 'gzip' }, gzipSync(TEXT)),
    );
    log.call.pause();
    await log.head;
    await new Promise((resolve) => setImmediate(resolve));
    expect(log.events).toEqual(['head']);
    log.call.resume();
    await log.finished;
    expect(log.text()).toBe(TEXT);
  });
});

describe('a long compressed answer', () => {
  it(
    verifies('stream.backpressure', 'is not read any further while it is paused, nor decoded'),
    async () => {
      const body = Buffer.alloc(32 * MIB, randomBytes(4096));
      const encoded = gzipSync(body, { level: 0 });
      let written = 0;
      let stalled: () => void = () => undefined;
      const stall = new Promise<void>((resolve) => (stalled = resolve));
      const upstream = await upstreams.http((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        const fill = (): void => {
          while (written < encoded.length) {
            const piece = encoded.subarray(written, written + 64 * 1024);
            written += piece.length;
            if (!response.write(piece)) {
              // The kernel's buffers take some more; without a reader the drains stop.
              const timer = setTimeout(stalled, 300);
              response.once('drain', () => {
                clearTimeout(timer);
                fill();
              });
              return;
            }
          }
          response.end();
        };
        fill();
      });
      const patient = createHttp1Transport();
      const log = exchange(patient, upstream.url);
      log.call.pause();
      await stall;
      expect(log.events).toEqual(['head']);
      expect(written).toBeLessThan(encoded.length / 2);
      log.call.resume();
      await log.finished;
      expect(Buffer.concat(log.chunks).equals(body)).toBe(true);
      await patient.close();
    },
  );
});

describe('accept-encoding', () => {
  it.each([
    ['names what can be undone by default', [], 'identity, gzip;q=0.2, deflate;q=0.2, br;q=0.2'],
    ['is what the caller set', ['accept-encoding', 'gzip'], 'gzip'],
  ])('%s', async (_name, headers, expected) => {
    let seen: IncomingHttpHeaders = {};
    const upstream = await upstreams.http((request, response) => {
      seen = request.headers;
      response.end();
    });
    await exchange(transport, upstream.url, { headers }).finished;
    expect(seen['accept-encoding']).toBe(expected);
  });

  it('may decode to 256 MiB by default, and to no more', async () => {
    const body = Buffer.concat(Array<Buffer>(257).fill(MIB_IN_GZIP));
    const usual = createHttp1Transport();
    const log = exchange(usual, await answer(200, { 'content-encoding': 'gzip' }, body));
    let size = 0;
    log.onChunk = ({ length }) => {
      size += length;
      log.chunks.length = 0;
    };
    await log.finished;
    expect(log.events.at(-1)).toBe('error');
    expect(size).toBeGreaterThan(255 * MIB);
    expect(size).toBeLessThanOrEqual(256 * MIB);
    await usual.close();
  });
});
