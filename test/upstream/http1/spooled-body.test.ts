import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromBytes } from '../../../src/core/memory/spooled-body.ts';
import type { SpooledBody } from '../../../src/core/memory/spooled-body.ts';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import type { Transport } from '../../../src/upstream/transport.ts';
import { eventually } from '../../support/gateway.ts';
import { closed, exchange, Upstreams } from '../exchange-log.ts';

const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** A body that counts what was read of it. */
class CountedBody implements SpooledBody {
  readonly length: number;
  readonly #chunks: number;
  read = 0;
  opened = 0;
  closed = 0;

  constructor(chunks: number, length = chunks * CHUNK.length) {
    this.length = length;
    this.#chunks = chunks;
  }

  async *open(): AsyncGenerator<Buffer> {
    this.opened++;
    try {
      for (let i = 0; i < this.#chunks; i++) {
        this.read++;
        yield CHUNK;
      }
    } finally {
      this.closed++;
    }
  }
}

let upstreams: Upstreams;
let transport: Transport;

beforeEach(() => {
  upstreams = new Upstreams();
  transport = createHttp1Transport();
});
afterEach(async () => {
  await transport.close();
  await upstreams.closeAll();
});

describe('a body that is not in memory', () => {
  it('arrives whole under its length, and the connection is used again', async () => {
    const upstream = await upstreams.http((request, response) => {
      const hash = createHash('sha256');
      request.on('data', (chunk: Buffer) => hash.update(chunk));
      request.on('end', () =>
        response.end(`${request.headers['content-length']} ${hash.digest('hex')}`),
      );
    });
    const whole = Buffer.concat(Array.from({ length: 40 }, () => CHUNK));
    const digest = createHash('sha256').update(whole).digest('hex');
    const body = new CountedBody(40);
    for (const one of [body, fromBytes(whole), body]) {
      const log = exchange(transport, upstream.url, { body: one });
      await log.finished;
      expect(log.text()).toBe(`${whole.length} ${digest}`);
    }
    expect(body).toMatchObject({ opened: 2, closed: 2 });
    expect(upstream.sockets).toHaveLength(1);
  });

  it('is read again where its kept connection breaks as it goes out', async () => {
    const used = new Set<unknown>();
    const { url } = await upstreams.http((request, response) => {
      if (used.has(request.socket)) request.socket.resetAndDestroy();
      else request.resume().on('end', () => response.end('ok'));
      used.add(request.socket);
    });
    await exchange(transport, url).finished;
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    const body = new CountedBody(16);
    const log = exchange(transport, url, { body, repeatable: true });
    await log.finished;
    expect([log.text(), body.opened, body.closed]).toEqual(['ok', 2, 2]);
  });

  it('of no bytes is announced as empty', async () => {
    const upstream = await upstreams.http((request, response) => {
      response.end(request.headers['content-length']);
    });
    const log = exchange(transport, upstream.url, { body: fromBytes(Buffer.alloc(0)) });
    await log.finished;
    expect(log.text()).toBe('0');
  });

  it('is read no faster than the provider takes it', async () => {
    let resume: () => void = () => undefined;
    const upstream = await upstreams.http((request, response) => {
      resume = () => request.resume();
      request.on('end', () => response.end('thanks'));
    });
    const body = new CountedBody(1600);
    const log = exchange(transport, upstream.url, { body });
    let before = -1;
    await eventually(async () => {
      if (body.read > 0 && body.read === before) return true;
      before = body.read;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return false;
    });
    expect(body.read).toBeLessThan(800);
    resume();
    await log.finished;
    expect(log.text()).toBe('thanks');
    expect(body.read).toBe(1600);
  });

  it('is let go of, and the socket closed, when the call is aborted', async () => {
    let resume: () => void = () => undefined;
    const upstream = await upstreams.http((request) => {
      request.on('error', () => undefined);
      resume = () => request.resume();
    });
    const body = new CountedBody(1600);
    const log = exchange(transport, upstream.url, { body });
    await eventually(() => upstream.sockets.length > 0 && body.read > 2);
    log.call.abort();
    expect(log.error?.kind).toBe('aborted');
    await eventually(() => body.closed === 1);
    expect(body.read).toBeLessThan(1600);
    resume();
    await closed(upstream.sockets[0]);
  });

  it('is let go of when the provider answers before it has all of it', async () => {
    const upstream = await upstreams.http((request, response) => {
      request.once('data', () => {
        request.pause();
        response.writeHead(413).end('too much');
      });
    });
    const body = new CountedBody(1600);
    const log = exchange(transport, upstream.url, { body });
    await log.finished;
    expect([log.status, log.text(), log.error]).toEqual([413, 'too much', undefined]);
    await eventually(() => body.closed === 1);
    expect(body.read).toBeLessThan(1600);
    const next = exchange(transport, upstream.url);
    await next.finished;
    expect(next.status).toBe(413);
    expect(upstream.sockets).toHaveLength(2);
  });

  it('fails as broken off when the provider closes in the middle', async () => {
    const upstream = await upstreams.raw((socket) => socket.resetAndDestroy());
    const body = new CountedBody(1600);
    const log = exchange(transport, upstream.url, { body });
    await log.finished;
    expect(log.error?.kind).toBe('reset');
    await eventually(() => body.closed === 1);
  });

  it.each([
    ['shorter than it says', 3 * CHUNK.length + 1],
    ['longer than it says', 3 * CHUNK.length - 1],
  ])('fails when it is %s', async (_, length) => {
    const upstream = await upstreams.http((request, response) => {
      request.resume();
      request.on('end', () => response.end('taken'));
    });
    const log = exchange(transport, upstream.url, { body: new CountedBody(3, length) });
    await log.finished;
    expect(log.error?.kind).toBe('reset');
    await closed(upstream.sockets[0]);
  });

  it('fails when it cannot be read', async () => {
    const upstream = await upstreams.http((request) => request.resume());
    const body: SpooledBody = {
      length: 10,
      // oxlint-disable-next-line require-yield -- it fails before
      async *open() {
        throw new Error('gone');
      },
    };
    const log = exchange(transport, upstream.url, { body });
    await log.finished;
    expect(log.error?.kind).toBe('reset');
  });
});
