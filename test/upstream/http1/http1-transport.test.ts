import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import type { Http1TransportOptions } from '../../../src/upstream/http1/http1-transport.ts';
import type { Transport } from '../../../src/upstream/transport.ts';
import { verifies } from '../../requirements.ts';
import { closed, exchange, Upstreams } from '../exchange-log.ts';

let upstreams: Upstreams;
let transports: Transport[];

beforeEach(() => {
  upstreams = new Upstreams();
  transports = [];
});

afterEach(async () => {
  await Promise.all(transports.map((transport) => transport.close()));
  await upstreams.closeAll();
});

function create(options?: Http1TransportOptions): Transport {
  const transport = createHttp1Transport(options);
  transports.push(transport);
  return transport;
}

/** A port on which nothing listens. */
async function deadUrl(): Promise<string> {
  const gone = new Upstreams();
  const { url } = await gone.http(() => undefined);
  await gone.closeAll();
  return url;
}

describe('an exchange', () => {
  it('carries method, path, query, headers and body there and the answer back', async () => {
    const upstream = await upstreams.http((request, response) => {
      const body: Buffer[] = [];
      request.on('data', (chunk: Buffer) => body.push(chunk));
      request.on('end', () => {
        response.writeHead(207, { 'content-type': 'text/plain', 'x-two': ['a', 'b'] });
        const seen = [request.method, request.url, request.headers['x-mine'], Buffer.concat(body)];
        response.end(seen.join(' '));
      });
    });
    const log = exchange(create(), `${upstream.url}/v1/chat?a=b%20c`, {
      method: 'PUT',
      headers: ['x-mine', 'yes'],
      body: Buffer.from('{"model":"ü"}'),
    });
    await log.finished;
    expect(log.events).toEqual(['head', 'data', 'end']);
    expect(log.status).toBe(207);
    expect(log.headers['content-type']).toBe('text/plain');
    expect(log.headers['x-two']).toEqual(['a', 'b']);
    expect(log.text()).toBe('PUT /v1/chat?a=b%20c yes {"model":"ü"}');
  });

  it('ends without data for an answer without a body', async () => {
    const upstream = await upstreams.http((_request, response) => response.writeHead(204).end());
    const log = exchange(create(), upstream.url, { method: 'GET', body: undefined });
    await log.finished;
    expect(log.events).toEqual(['head', 'end']);
  });

  it('does not show informational answers', async () => {
    const upstream = await upstreams.http((_request, response) => {
      response.writeProcessing();
      response.end('late');
    });
    const log = exchange(create(), upstream.url);
    await log.finished;
    expect(log.events).toEqual(['head', 'data', 'end']);
    expect(log.status).toBe(200);
  });

  it(
    verifies('routing.upstream-headers.allow-list', 'shows a redirect instead of following it'),
    async () => {
      let elsewhere = 0;
      const target = await upstreams.http((_request, response) => {
        elsewhere += 1;
        response.end();
      });
      const upstream = await upstreams.http((_request, response) => {
        response.writeHead(302, { location: target.url }).end('moved');
      });
      const log = exchange(create(), upstream.url);
      await log.finished;
      expect(log.status).toBe(302);
      expect(log.text()).toBe('moved');
      expect(elsewhere).toBe(0);
    },
  );

  it('never calls the sink before send returned', async () => {
    const transport = create();
    const log = exchange(transport, 'http://127.0.0.1:1', { headers: ['bad name', 'x'] });
    expect(log.events).toEqual([]);
    await log.finished;
    expect(log.events).toEqual(['error']);
    await transport.close();
    const late = exchange(transport, 'http://127.0.0.1:1');
    expect(late.events).toEqual([]);
    await late.finished;
    expect(late.error?.kind).toBe('connect');
  });
});

describe('failures', () => {
  it('a refused connection is of kind connect', async () => {
    const log = exchange(create(), await deadUrl());
    await log.finished;
    expect(log.events).toEqual(['error']);
    expect(log.error?.kind).toBe('connect');
    expect(log.error?.message).toBe('could not connect to the provider (ECONNREFUSED)');
  });

  it('an unresolved name is of kind connect', async () => {
    const log = exchange(create(), 'http://nowhere.invalid/');
    await log.finished;
    expect(log.error?.kind).toBe('connect');
  });

  it('a failed TLS handshake is of kind connect', async () => {
    const upstream = await upstreams.http((_request, response) => response.end());
    const log = exchange(create(), upstream.url.replace('http:', 'https:'));
    await log.finished;
    expect(log.error?.kind).toBe('connect');
  });

  it('a URL that is not http is of kind connect', async () => {
    const log = exchange(create(), 'ftp://127.0.0.1/');
    await log.finished;
    expect(log.error?.kind).toBe('connect');
  });

  it(verifies('stream.upstream-death', 'a reset before the head is of kind reset'), async () => {
    const upstream = await upstreams.raw((socket) => socket.resetAndDestroy());
    const log = exchange(create(), upstream.url);
    await log.finished;
    expect(log.events).toEqual(['error']);
    expect(log.error?.kind).toBe('reset');
  });

  it('a close before the head is of kind reset', async () => {
    const upstream = await upstreams.raw((socket) => socket.end());
    const log = exchange(create(), upstream.url);
    await log.finished;
    expect(log.error?.kind).toBe('reset');
  });

  it.each([
    ['a body shorter than its length', 'content-length: 100\r\n\r\nhalf'],
    [
      'a body shorter than its length on a last connection',
      'connection: close\r\ncontent-length: 100\r\n\r\nhalf',
    ],
    ['chunks without a last one', 'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    [
      'chunks without a last one on a last connection',
      'connection: close\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    ],
  ])('%s is of kind reset, after the data that came', async (_name, rest) => {
    const upstream = await upstreams.raw((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
    const log = exchange(create(), upstream.url);
    await log.finished;
    expect(log.events).toEqual(['head', 'data', 'error']);
    expect(log.text()).toBe('half');
    expect(log.error?.kind).toBe('reset');
  });

  it.each([
    ['garbage instead of a status line', 'SSH-2.0-OpenSSH_9.7\r\n'],
    [
      'a switch of protocols nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    ],
    ['an endless header', `HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(70_000)}\r\n\r\n`],
    [
      'a chunk size that is no number',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    ],
  ])('%s is of kind protocol', async (_name, bytes) => {
    const upstream = await upstreams.raw((socket) => socket.write(bytes));
    const log = exchange(create(), upstream.url);
    await log.finished;
    expect(log.events.at(-1)).toBe('error');
    expect(log.error?.kind).toBe('protocol');
  });

  it('an error names no address, its cause does', async () => {
    const url = await deadUrl();
    const log = exchange(create(), url);
    await log.finished;
    expect(log.error?.message).not.toContain('127.0.0.1');
    expect(String(log.error?.cause)).toContain(new URL(url).port);
  });

  it('a connect timeout is of kind connect', async () => {
    // TEST-NET-1 (RFC 5737) answers nobody; where the network refuses it at once, that is the same kind.
    const log = exchange(create({ connectTimeoutMs: 50 }), 'http://192.0.2.1:9/');
    await log.finished;
    expect(log.error?.kind).toBe('connect');
  });
});

describe('abort', () => {
  it(
    verifies(
      'stream.client-abort.cancels-upstream',
      'closes the socket of a running stream at once',
    ),
    async () => {
      const upstream = await upstreams.http((_request, response) => {
        response.write('first');
      });
      const log = exchange(create(), upstream.url);
      await log.head;
      log.call.abort();
      expect(log.error?.kind).toBe('aborted');
      await closed(upstream.sockets[0]);
      log.call.abort();
      expect(log.events.filter((name) => name === 'error')).toHaveLength(1);
    },
  );

  it(
    verifies(
      'stream.client-abort.cancels-upstream',
      'closes the socket while waiting for the head',
    ),
    async () => {
      const upstream = await upstreams.http(() => undefined);
      const log = exchange(create(), upstream.url);
      await once(upstream.server, 'request');
      log.call.abort();
      await closed(upstream.sockets[0]);
      expect(log.events).toEqual(['error']);
    },
  );

  it('of a request that waits for a connection sends nothing and harms no other', async () => {
    const seen: string[] = [];
    const upstream = await upstreams.http((request, response) => {
      seen.push(request.url ?? '');
      if (request.url === '/first') setImmediate(() => response.end('one'));
      else response.end('two');
    });
    const transport = create({ connections: 1 });
    const first = exchange(transport, `${upstream.url}/first`);
    const dropped = exchange(transport, `${upstream.url}/dropped`);
    const last = exchange(transport, `${upstream.url}/last`);
    dropped.call.abort();
    expect(dropped.error?.kind).toBe('aborted');
    await Promise.all([first.finished, last.finished]);
    expect(seen).toEqual(['/first', '/last']);
    expect(last.text()).toBe('two');
    expect(upstream.sockets).toHaveLength(1);
  });

  it('from inside onData stops the data', async () => {
    let sendMore: () => void = () => undefined;
    const upstream = await upstreams.http((_request, response) => {
      response.write('one');
      sendMore = () => response.write('two');
    });
    const log = exchange(create(), upstream.url);
    log.onChunk = () => {
      sendMore();
      log.call.abort();
    };
    await log.finished;
    await closed(upstream.sockets[0]);
    expect(log.events).toEqual(['head', 'data', 'error']);
    expect(log.text()).toBe('one');
  });

  it('after the end does nothing', async () => {
    const upstream = await upstreams.http((_request, response) => response.end('done'));
    const log = exchange(create(), upstream.url);
    await log.finished;
    log.call.abort();
    log.call.pause();
    log.call.resume();
    expect(log.events).toEqual(['head', 'data', 'end']);
    expect(upstream.sockets[0]?.destroyed).toBe(false);
  });
});

describe('back-pressure', () => {
  it(
    verifies('stream.backpressure', 'a paused exchange stops the server after a bounded amount'),
    async () => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const total = 64 * 1024 * 1024;
      let written = 0;
      let stalled: () => void = () => undefined;
      const stall = new Promise<void>((resolve) => (stalled = resolve));
      const upstream = await upstreams.http((_request, response) => {
        const fill = (): void => {
          while (written < total) {
            written += chunk.length;
            if (!response.write(chunk)) {
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
      const log = exchange(create(), upstream.url);
      let received = 0;
      log.onChunk = (data) => {
        received += data.length;
        log.chunks.length = 0;
        if (received === data.length) log.call.pause();
      };
      await stall;
      expect(received).toBeLessThan(1024 * 1024);
      expect(written).toBeLessThan(total / 2);
      log.call.resume();
      await log.finished;
      expect(log.ended).toBe(true);
      expect(received).toBe(total);
    },
  );

  it("one exchange can be resumed from inside another one's onData", async () => {
    const upstream = await upstreams.http((_request, response) => {
      response.write('first');
      setImmediate(() => response.end('second'));
    });
    const transport = create();
    const held = exchange(transport, upstream.url);
    held.call.pause();
    await held.head;
    const other = exchange(transport, upstream.url);
    other.onChunk = () => held.call.resume();
    await Promise.all([held.finished, other.finished]);
    expect(held.text()).toBe('firstsecond');
    expect(other.text()).toBe('firstsecond');
  });
});

describe('connections', () => {
  it('are kept and used again', async () => {
    const upstream = await upstreams.http((_request, response) => response.end('ok'));
    const transport = create();
    for (let turn = 0; turn < 5; turn++) {
      await exchange(transport, upstream.url).finished;
      // A connection is free one turn of the event loop after its answer.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(upstream.sockets).toHaveLength(1);
  });

  it('a kept connection that the server closed is replaced without an error', async () => {
    const upstream = await upstreams.http((_request, response) => response.end('ok'));
    const transport = create();
    await exchange(transport, upstream.url).finished;
    upstream.sockets[0]?.destroy();
    const again = exchange(transport, upstream.url);
    await again.finished;
    expect(again.error).toBeUndefined();
    expect(upstream.sockets).toHaveLength(2);
  });

  it('are no more than allowed', async () => {
    const waiting: Array<() => void> = [];
    const upstream = await upstreams.http((_request, response) => {
      waiting.push(() => response.end('ok'));
      if (waiting.length === 2) for (const answer of waiting.splice(0)) answer();
    });
    const transport = create({ connections: 2 });
    const logs = Array.from({ length: 4 }, () => exchange(transport, upstream.url));
    await Promise.all(logs.map((log) => log.finished));
    expect(logs.filter((log) => log.error)).toEqual([]);
    expect(upstream.sockets).toHaveLength(2);
  });

  it('of the longest unused origin are closed when there are too many origins', async () => {
    const answer = await Promise.all(
      [1, 2, 3].map(() => upstreams.http((_request, response) => response.end('ok'))),
    );
    const transport = create({ maxPools: 2 });
    for (const upstream of answer) await exchange(transport, upstream.url).finished;
    await closed(answer[0]?.sockets[0]);
    expect(answer[1]?.sockets[0]?.destroyed).toBe(false);
    const again = exchange(transport, answer[0]?.url ?? '');
    await again.finished;
    expect(again.text()).toBe('ok');
  });

  it('busy ones are closed with the transport', async () => {
    const upstream = await upstreams.http((_request, response) => {
      response.write('first');
    });
    const transport = create();
    const log = exchange(transport, upstream.url);
    await log.head;
    await transport.close();
    await log.finished;
    expect(log.error?.kind).toBe('reset');
  });
});
