import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import type { Http1TransportOptions } from '../../../src/upstream/http1/http1-transport.ts';
import { UpstreamError } from '../../../src/upstream/transport.ts';
import type { Transport } from '../../../src/upstream/transport.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { closed, exchange, Upstreams } from '../exchange-log.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

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

/** Two turns of the event loop: a connection that was used is idle then. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('a kept connection', () => {
  it.each([
    ['with the answer', 'same'],
    ['while it is unused', 'later'],
    ['while the next request is on its way', 'with-next'],
  ] as const)('is given up when more than the answer comes %s', async (_name, when) => {
    const forged = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged';
    const upstream = await upstreams.raw((socket) => {
      if (upstream.sockets.length > 1) return socket.write(OK);
      return socket.write(when === 'same' ? OK + forged : OK);
    });
    const transport = create();
    const first = exchange(transport, upstream.url);
    await first.finished;
    expect(first.text()).toBe('ok');
    if (when === 'later') {
      upstream.sockets[0]?.write(forged);
      await closed(upstream.sockets[0]);
    }
    if (when === 'with-next') {
      await settled();
      upstream.sockets[0]?.write(forged);
    }
    const second = exchange(transport, upstream.url);
    await second.finished;
    expect(second.text()).toBe('ok');
    expect(upstream.sockets).toHaveLength(2);
  });

  it('is not used again when the server answered before it had the whole request', async () => {
    const upstream = await upstreams.raw((socket) => {
      socket.pause();
      socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
    });
    const transport = create();
    const log = exchange(transport, upstream.url, { body: Buffer.alloc(16 * 1024 * 1024) });
    await log.finished;
    expect(log.status).toBe(413);
    expect(log.text()).toBe('no');
    const next = exchange(transport, upstream.url);
    await next.finished;
    expect(upstream.sockets).toHaveLength(2);
  });

  it.each([
    ['says so', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'],
    [
      'keeps it too shortly',
      'HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 2\r\n\r\nok',
    ],
    ['speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
  ])('is not one when the server %s', async (_name, answer) => {
    const upstream = await upstreams.raw((socket) => socket.write(answer));
    const log = exchange(create(), upstream.url);
    await log.finished;
    expect(log.text()).toBe('ok');
    await closed(upstream.sockets[0]);
  });

  it('is closed when it was unused for as long as the server keeps it', async () => {
    const clock = createFakeClock();
    const answers = ['keep-alive: timeout=10\r\n', ''];
    const upstream = await upstreams.raw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${answers.shift() ?? ''}content-length: 2\r\n\r\nok`);
    });
    const transport = create({ clock, keepAliveMs: 30_000 });
    await exchange(transport, upstream.url).finished;
    await settled();
    clock.advance(7000);
    await exchange(transport, upstream.url).finished;
    await settled();
    expect(upstream.sockets).toHaveLength(1);
    clock.advance(29_000);
    expect(upstream.sockets[0]?.closed).toBe(false);
    clock.advance(2000);
    await closed(upstream.sockets[0]);
    clock.advance(2000);
    expect(clock.pending).toBe(0);
  });

  it('is not used when its time ran out while the process slept', async () => {
    const awake = createFakeClock();
    let slept = 0;
    const clock = { ...awake, monotonic: () => awake.monotonic() + slept };
    const upstream = await upstreams.raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=10\r\ncontent-length: 2\r\n\r\nok');
    });
    const transport = create({ clock });
    for (const [sleep, connections] of [
      [0, 1],
      [7900, 1],
      [8100, 2],
    ] as const) {
      slept += sleep;
      await exchange(transport, upstream.url).finished;
      await settled();
      expect(upstream.sockets).toHaveLength(connections);
    }
  });

  it('does not keep the process alive while it is unused', async () => {
    const opened: unknown[] = [];
    const note = (message: unknown): void =>
      void opened.push((message as { socket: unknown }).socket);
    subscribe('net.client.socket', note);
    onTestFinished(() => void unsubscribe('net.client.socket', note));
    const keepsAlive = (): boolean => {
      const [{ _handle: handle }] = opened as [{ _handle: { hasRef(): boolean } }];
      return handle.hasRef();
    };
    let answer: () => void = () => undefined;
    const upstream = await upstreams.http((_request, response) => {
      answer = () => response.end('ok');
    });
    const transport = create();
    for (let turn = 0; turn < 2; turn++) {
      const log = exchange(transport, upstream.url);
      await once(upstream.server, 'request');
      expect(keepsAlive()).toBe(true);
      answer();
      await log.finished;
      await settled();
      expect(keepsAlive()).toBe(false);
    }
    expect(opened).toHaveLength(1);
  });

  it('that the server closed is not used, and nothing is sent twice', async () => {
    const seen: string[] = [];
    const upstream = await upstreams.raw((socket, request) => {
      seen.push(request.split(' ')[1] ?? '');
      socket.end(OK);
    });
    const transport = create();
    for (const path of ['/1', '/2', '/3']) {
      const log = exchange(transport, upstream.url + path);
      await log.finished;
      expect(log.text()).toBe('ok');
    }
    expect(seen).toEqual(['/1', '/2', '/3']);
  });

  it('on which a request was written and not answered fails it, instead of sending it again', async () => {
    const seen: string[] = [];
    const upstream = await upstreams.raw((socket, request) => {
      seen.push(request.split(' ')[1] ?? '');
      if (seen.length === 1) socket.write(OK);
      else socket.resetAndDestroy();
    });
    const transport = create();
    await exchange(transport, `${upstream.url}/1`).finished;
    await settled();
    const log = exchange(transport, `${upstream.url}/2`);
    await log.finished;
    expect(log.error?.kind).toBe('reset');
    expect(seen).toEqual(['/1', '/2']);
  });

  it('carries the requests that wait, one after the other', async () => {
    const upstream = await upstreams.http((request, response) => response.end(request.url));
    const transport = create({ connections: 1 });
    const logs = Array.from({ length: 20 }, (_, n) => exchange(transport, `${upstream.url}/${n}`));
    await Promise.all(logs.map((log) => log.finished));
    expect(logs.map((log) => log.text())).toEqual(logs.map((_, n) => `/${n}`));
    expect(upstream.sockets).toHaveLength(1);
  });

  it('that was paused when its answer ended carries the next one', async () => {
    const upstream = await upstreams.http((_request, response) => response.end('ok'));
    const transport = create({ connections: 1 });
    const paused = exchange(transport, upstream.url);
    paused.call.pause();
    await paused.finished;
    const next = exchange(transport, upstream.url);
    await next.finished;
    expect(next.text()).toBe('ok');
    expect(upstream.sockets).toHaveLength(1);
  });
});

describe('a request that waits', () => {
  it('gets the connection of one that broke', async () => {
    const upstream = await upstreams.raw((socket, request) => {
      if (request.startsWith('POST /bad')) socket.destroy();
      else socket.write(OK);
    });
    const transport = create({ connections: 1 });
    const bad = exchange(transport, `${upstream.url}/bad`);
    const good = exchange(transport, `${upstream.url}/good`);
    await Promise.all([bad.finished, good.finished]);
    expect(bad.error?.kind).toBe('reset');
    expect(good.text()).toBe('ok');
  });

  it('fails with the connection that could not be made for it, and not before', async () => {
    const gone = new Upstreams();
    const { url } = await gone.http(() => undefined);
    await gone.closeAll();
    const transport = create({ connections: 2 });
    const logs = Array.from({ length: 7 }, () => exchange(transport, url));
    await Promise.all(logs.map((log) => log.finished));
    expect(logs.map((log) => log.error?.kind)).toEqual(logs.map(() => 'connect'));
  });

  it('fails as connect when the transport is closed', async () => {
    const upstream = await upstreams.http(() => undefined);
    const transport = create({ connections: 1 });
    const first = exchange(transport, upstream.url);
    const second = exchange(transport, upstream.url);
    await once(upstream.server, 'request');
    await transport.close();
    expect(first.error?.kind).toBe('reset');
    expect(second.error?.kind).toBe('connect');
  });

  it('stops the attempt to connect when it is aborted, and no other', async () => {
    const upstream = await upstreams.http((_request, response) => response.end('ok'));
    const clock = createFakeClock();
    const transport = create({ clock });
    const [dropped, kept] = [exchange(transport, upstream.url), exchange(transport, upstream.url)];
    const timers = clock.pending;
    dropped.call.abort();
    expect(dropped.error?.kind).toBe('aborted');
    expect(clock.pending).toBe(timers - 1);
    await kept.finished;
    expect(kept.text()).toBe('ok');
  });

  it('can be aborted between being given a kept connection and being written', async () => {
    const seen: string[] = [];
    const upstream = await upstreams.http((request, response) => {
      seen.push(request.url ?? '');
      response.end('ok');
    });
    const transport = create({ connections: 1 });
    await exchange(transport, `${upstream.url}/1`).finished;
    await settled();
    const dropped = exchange(transport, `${upstream.url}/dropped`);
    const last = exchange(transport, `${upstream.url}/2`);
    dropped.call.abort();
    await last.finished;
    expect(seen).toEqual(['/1', '/2']);
    expect(upstream.sockets).toHaveLength(1);
  });
});

describe('the bytes of an exchange', () => {
  it('do not mix with those of others', async () => {
    const upstream = await upstreams.http((request, response) => {
      const letter = request.url?.slice(1) ?? '';
      let left = 40;
      const step = (): void => {
        if (left-- === 0) return void response.end();
        response.write(letter.repeat(1 + ((left * 977) % 20_000)));
        setImmediate(step);
      };
      step();
    });
    const transport = create();
    const letters = 'abcdefghijklmnop'.split('');
    const logs = letters.map((letter) => exchange(transport, `${upstream.url}/${letter}`));
    await Promise.all(logs.map((log) => log.finished));
    logs.forEach((log, index) => {
      const text = log.text();
      expect(text).toBe(letters[index]?.repeat(text.length));
    });
    expect(new Set(logs.map((log) => log.text().length)).size).toBe(1);
  });

  it.each([1, 64 * 1024, 64 * 1024 + 1, 5 * 1024 * 1024])(
    'arrive whole in both directions when there are %i',
    async (length) => {
      const upstream = await upstreams.http((request, response) => request.pipe(response));
      const body = Buffer.alloc(length, 'abcdefg');
      const log = exchange(create(), upstream.url, { body });
      await log.finished;
      expect(Buffer.concat(log.chunks).equals(body)).toBe(true);
    },
  );
});

describe('a sink that throws', () => {
  const calls = ['onHead', 'onData', 'onEnd'] as const;

  it.each(calls)('in %s is told so, and nobody else is harmed', async (name) => {
    const upstream = await upstreams.http((_request, response) => response.end('ok'));
    const transport = create();
    const fault = new Error('mine');
    const told = await new Promise<UpstreamError>((resolve) => {
      const sink = {
        onHead: () => undefined,
        onData: () => undefined,
        onEnd: () => undefined,
        onError: resolve,
        [name]: () => {
          throw fault;
        },
      };
      const url = new URL(upstream.url);
      transport.send({ url, method: 'GET', headers: [], body: undefined }, sink);
    });
    expect(told).toBeInstanceOf(UpstreamError);
    expect(told.cause).toBe(fault);
    const next = exchange(transport, upstream.url);
    await next.finished;
    expect(next.text()).toBe('ok');
  });
});

describe('an answer', () => {
  it('that ends with the connection is not complete when that is reset', async () => {
    const upstream = await upstreams.raw((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf'));
    const log = exchange(create(), upstream.url);
    // Not before the data was read: libuv reports a reset right behind data as an ordinary end.
    log.onChunk = () => upstream.sockets[0]?.resetAndDestroy();
    await log.finished;
    expect(log.events.at(-1)).toBe('error');
    expect(log.error?.kind).toBe('reset');
  });

  it('to HEAD is complete with its head', async () => {
    const upstream = await upstreams.http((_request, response) => {
      response.writeHead(200, { 'content-length': 1000 }).end();
    });
    const log = exchange(create(), upstream.url, { method: 'HEAD', body: undefined });
    await log.finished;
    expect(log.events).toEqual(['head', 'end']);
    expect(log.headers['content-length']).toBe('1000');
    await closed(upstream.sockets[0]);
  });
});

it('is read in turns with others, however fast its answer comes', async () => {
  const length = 16 * 1024 * 1024;
  const upstream = await upstreams.raw((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${'x'.repeat(length)}`),
  );
  const counts = { inTurn: 0, most: 0, bytes: 0, isOver: false };
  const turn = (): void => {
    counts.inTurn = 0;
    if (!counts.isOver) setImmediate(turn);
  };
  turn();
  await new Promise<void>((resolve, reject) => {
    create().send(
      { url: new URL(upstream.url), method: 'GET', headers: [], body: undefined },
      {
        onHead: () => undefined,
        onData(chunk) {
          counts.most = Math.max(counts.most, ++counts.inTurn);
          counts.bytes += chunk.length;
        },
        onEnd: resolve,
        onError: reject,
      },
    );
  });
  counts.isOver = true;
  expect(counts.bytes).toBe(length);
  expect(counts.most).toBeLessThanOrEqual(8);
});
