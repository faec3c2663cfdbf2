import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import type { Transport } from '../../../src/upstream/transport.ts';
import { verifies } from '../../requirements.ts';
import { closed, exchange, Upstreams } from '../exchange-log.ts';
import { createUndiciTransport } from './undici-transport.ts';

const CLIENTS = { own: createHttp1Transport, 'undici dispatch': createUndiciTransport };
const named = (title: string): string => verifies('http1.client.fuzz', title);

describe.each(Object.entries(CLIENTS))('the client of %s', (_name, create) => {
  let upstreams: Upstreams;
  let transport: Transport;

  beforeEach(() => {
    upstreams = new Upstreams();
    transport = create();
  });

  afterEach(async () => {
    await transport.close();
    await upstreams.closeAll();
  });

  const get = (url: string, from = transport) =>
    exchange(from, url, { method: 'GET', body: undefined });

  /** The log of an answer that is sent as it is, and whose connection is closed then where `close` says so. */
  async function answered(
    text: string,
    { close = false, method = 'GET' }: { close?: boolean; method?: 'GET' | 'HEAD' } = {},
  ) {
    const upstream = await upstreams.raw((socket) => {
      if (close) socket.end(text, 'latin1');
      else socket.write(text, 'latin1');
    });
    const log = exchange(transport, upstream.url, { method, body: undefined });
    await log.finished;
    return log;
  }

  it(named('carries method, path, query, headers and body'), async () => {
    const upstream = await upstreams.http((request, response) => {
      const body: Buffer[] = [];
      request.on('data', (chunk: Buffer) => body.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        const told = [method, url, headers['x-mine'], headers['content-length']];
        response.writeHead(207, { 'x-two': ['a', 'b'] }).end(`${told.join(' ')} ${String(body)}`);
      });
    });
    const log = exchange(transport, `${upstream.url}/v1/chat?a=b%20c`, {
      method: 'PUT',
      headers: ['x-mine', 'yes'],
      body: Buffer.from('{"model":"ü"}'),
    });
    await log.finished;
    expect([log.status, log.headers['x-two']]).toEqual([207, ['a', 'b']]);
    expect(log.text()).toBe('PUT /v1/chat?a=b%20c yes 14 {"model":"ü"}');
    expect(log.events).toEqual(['head', 'data', 'end']);
  });

  it.each([
    ['of a length', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc', false, 'abc'],
    [
      'in chunks, with extensions and trailers',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;a=b\r\nab\r\n1\r\nc\r\n0\r\nx-t: 1\r\n\r\n',
      false,
      'abc',
    ],
    ['that ends with its connection', 'HTTP/1.1 200 OK\r\n\r\nabc', true, 'abc'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nabc', true, 'abc'],
    ['without a reason', 'HTTP/1.1 200\r\ncontent-length: 3\r\n\r\nabc', false, 'abc'],
    ['of no length', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', false, ''],
    ['with nothing', 'HTTP/1.1 204 No Content\r\n\r\n', false, ''],
    ['that is the old one', 'HTTP/1.1 304 Not Modified\r\netag: "x"\r\n\r\n', false, ''],
    [
      'behind hints',
      'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc',
      false,
      'abc',
    ],
  ] as const)(named('reads an answer %s'), async (...[, text, close, body]) => {
    const log = await answered(text, { close });
    expect(log.error).toBeUndefined();
    expect(log.text()).toBe(body);
    expect(log.events).toEqual(body === '' ? ['head', 'end'] : ['head', 'data', 'end']);
  });

  it(named('expects no body for HEAD'), async () => {
    const log = await answered('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n', { method: 'HEAD' });
    expect([log.status, log.text(), log.ended]).toEqual([200, '', true]);
  });

  it.each([
    ['no HTTP', 'SSH-2.0-none\r\n\r\n'],
    ['a status of letters', 'HTTP/1.1 abc OK\r\n\r\n'],
    [
      'two lengths that differ',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    ],
    ['a length of letters', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\nab'],
    [
      'both a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a chunk of no size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nab\r\n'],
    ['a name with a blank', 'HTTP/1.1 200 OK\r\nx y: 1\r\ncontent-length: 0\r\n\r\n'],
    ['a zero byte in a value', 'HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n'],
    ['a head without an end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`],
    ['a body that is cut', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'],
    ['chunks that are cut', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc'],
    ['nothing', ''],
  ])(named('refuses %s'), async (_what, text) => {
    const log = await answered(text, { close: true });
    expect(log.ended).toBe(false);
    expect(['protocol', 'reset']).toContain(log.error?.kind);
    expect(log.events.filter((event) => event === 'error' || event === 'end')).toEqual(['error']);
  });

  it(named('shows a redirect and does not follow it'), async () => {
    const log = await answered(
      'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 5\r\n\r\nmoved',
    );
    expect([log.status, log.text()]).toEqual([302, 'moved']);
  });

  it(named('uses connections again'), async () => {
    const upstream = await upstreams.http((_request, response) => response.end('ok'));
    for (let count = 0; count < 5; count++) await get(upstream.url).finished;
    // One that was used a moment ago may not be known as free yet.
    expect(upstream.sockets.length).toBeLessThan(3);
  });

  it(named('opens another connection once a server closed its own'), async () => {
    const upstream = await upstreams.http((_request, response) => {
      response.setHeader('connection', 'close');
      response.end('ok');
    });
    for (let count = 0; count < 3; count++) {
      const log = get(upstream.url);
      await log.finished;
      expect(log.text()).toBe('ok');
      await closed(upstream.sockets[count]);
    }
    expect(upstream.sockets).toHaveLength(3);
  });

  it(named('gives each of many calls at once its own answer'), async () => {
    const few = create({ connections: 4 });
    const upstream = await upstreams.http((request, response) => {
      response.write(`${request.url} `);
      setImmediate(() => response.end(request.url));
    });
    const logs = Array.from({ length: 60 }, (_, index) => get(`${upstream.url}/${index}`, few));
    await Promise.all(logs.map((log) => log.finished));
    expect(logs.map((log) => log.text())).toEqual(logs.map((_, index) => `/${index} /${index}`));
    expect(upstream.sockets.length).toBeLessThanOrEqual(4);
    await few.close();
  });

  it(
    named('closes the connection of a call that is given up, and tells no more of it'),
    async () => {
      const upstream = await upstreams.http((_request, response) => {
        response.write('first');
      });
      const log = get(upstream.url);
      await log.head;
      log.call.abort();
      await closed(upstream.sockets[0]);
      expect(log.error?.kind).toBe('aborted');
      expect(log.events.at(-1)).toBe('error');
    },
  );

  it(named('reads on only once it may'), async () => {
    const bytes = 8 * 1024 * 1024;
    const upstream = await upstreams.http((_request, response) =>
      response.end(Buffer.alloc(bytes)),
    );
    const log = get(upstream.url);
    await log.head;
    log.call.pause();
    log.call.resume();
    await log.finished;
    expect(log.chunks.reduce((sum, chunk) => sum + chunk.length, 0)).toBe(bytes);
  });

  it(named('tells a connection that cannot be made'), async () => {
    const gone = new Upstreams();
    const { url } = await gone.http(() => undefined);
    await gone.closeAll();
    const log = get(url);
    await log.finished;
    expect([log.events, log.error?.kind]).toEqual([['error'], 'connect']);
  });

  it(named('tells a connection that breaks'), async () => {
    const upstream = await upstreams.http((_request, response) => {
      response.write('half');
    });
    const log = get(upstream.url);
    await log.head;
    if (log.chunks.length === 0)
      await new Promise<void>((resolve) => (log.onChunk = () => resolve()));
    const gone = once(upstream.sockets[0]!, 'close');
    upstream.sockets[0]?.resetAndDestroy();
    await Promise.all([gone, log.finished]);
    expect([log.text(), log.error?.kind]).toEqual(['half', 'reset']);
  });
});
