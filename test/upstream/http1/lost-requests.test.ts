import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import type { Http1TransportOptions } from '../../../src/upstream/http1/http1-transport.ts';
import type { Transport, UpstreamSink } from '../../../src/upstream/transport.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { exchange, Upstreams } from '../exchange-log.ts';
import type { Broken } from '../exchange-log.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const REPEATABLE = { repeatable: true, body: Buffer.from('{"n":1}') };

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

type Socket = Broken['sockets'][number];

/** A server that answers the first request of a connection and breaks it as the next one comes. */
async function forgetful(breaks: (socket: Socket) => void, rounds = 1) {
  const requests: string[] = [];
  const answered = new Map<Socket, number>();
  const { url, sockets } = await upstreams.raw((socket, request) => {
    requests.push(request);
    const count = answered.get(socket) ?? 0;
    answered.set(socket, count + 1);
    if (count < rounds) socket.write(OK);
    else breaks(socket);
  });
  return { url, sockets, requests };
}

/** Two turns of the event loop: a connection that was used is idle then. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const reset = (socket: Socket): void => void socket.resetAndDestroy();

describe('a kept connection that breaks as the next request goes out', () => {
  it.each([
    ['reset', reset],
    ['closed', (socket: Socket) => void socket.end()],
  ])(
    verifies('upstream.reset-kept-connection', 'loses no repeatable request when it is %s'),
    async (_name, breaks) => {
      const { url, sockets, requests } = await forgetful(breaks);
      const transport = create();
      await exchange(transport, url, REPEATABLE).finished;
      await settled();
      const log = exchange(transport, url, REPEATABLE);
      await log.finished;
      expect([log.text(), log.events]).toEqual(['ok', ['head', 'data', 'end']]);
      expect([sockets.length, requests.length]).toEqual([2, 3]);
      expect(requests[2]).toBe(requests[1]);
    },
  );

  it('loses none that only reads', async () => {
    const { url } = await forgetful(reset);
    const transport = create();
    await exchange(transport, url).finished;
    await settled();
    const log = exchange(transport, url, { method: 'GET', body: undefined });
    await log.finished;
    expect(log.text()).toBe('ok');
  });

  it('is not followed by another kept one, which may be as old', async () => {
    const { url, sockets } = await forgetful(reset);
    const transport = create();
    await Promise.all([1, 2, 3].map(() => exchange(transport, url).finished));
    await settled();
    const logs = [1, 2].map(() => exchange(transport, url, REPEATABLE));
    await Promise.all(logs.map(({ finished }) => finished));
    expect(logs.map((log) => log.text())).toEqual(['ok', 'ok']);
    expect(sockets).toHaveLength(5);
  });

  it('gives way to a new one where there may be no more', async () => {
    const { url, sockets } = await forgetful(reset);
    const transport = create({ connections: 1 });
    await exchange(transport, url).finished;
    await settled();
    const lost = exchange(transport, url, REPEATABLE);
    const waiting = exchange(transport, url, REPEATABLE);
    await Promise.all([lost.finished, waiting.finished]);
    expect([lost.text(), waiting.text()]).toEqual(['ok', 'ok']);
    expect(sockets).toHaveLength(3);
  });

  it('can be given up while the new one is made', async () => {
    const { url, sockets } = await forgetful(reset);
    const transport = create();
    await exchange(transport, url).finished;
    await settled();
    const log = exchange(transport, url, REPEATABLE);
    await new Promise((resolve) => sockets[0]?.once('close', resolve));
    log.call.abort();
    await log.finished;
    expect(log.error?.kind).toBe('aborted');
  });
});

describe('a request is lost with its connection', () => {
  const second = async (
    breaks: (socket: Socket) => void,
    options: Parameters<typeof exchange>[2],
  ) => {
    const { url, sockets, requests } = await forgetful(breaks);
    const transport = create();
    await exchange(transport, url, options).finished;
    await settled();
    const log = exchange(transport, url, options);
    await log.finished;
    return { kind: log.error?.kind, sent: requests.length - 1, sockets: sockets.length };
  };

  it(verifies('routing.non-idempotent-no-retry', 'that must not be made twice'), async () => {
    expect(await second(reset, {})).toEqual({ kind: 'reset', sent: 1, sockets: 1 });
    expect(await second(reset, { method: 'DELETE' })).toMatchObject({ kind: 'reset', sent: 1 });
  });

  it('whose body is too large to be kept', async () => {
    const { url, sockets } = await forgetful(reset);
    const transport = create();
    await exchange(transport, url, REPEATABLE).finished;
    await settled();
    const body = Buffer.alloc(1024 * 1024 + 1, 'x');
    const log = exchange(transport, url, { ...REPEATABLE, body });
    await log.finished;
    expect([log.error?.kind, sockets.length]).toEqual(['reset', 1]);
  });

  it('once a byte of an answer has come', async () => {
    const breaks = (socket: Socket): void => void socket.end('H');
    expect(await second(breaks, REPEATABLE)).toEqual({ kind: 'reset', sent: 1, sockets: 1 });
  });

  it('that is a new one', async () => {
    const { url, requests } = await forgetful(reset, 0);
    const log = exchange(create(), url, REPEATABLE);
    await log.finished;
    expect([log.error?.kind, requests.length]).toEqual(['reset', 1]);
  });

  it('the second time', async () => {
    let answers = 1;
    const { url, sockets } = await upstreams.raw((socket) => {
      if (answers-- > 0) socket.write(OK);
      else socket.resetAndDestroy();
    });
    const transport = create();
    await exchange(transport, url, REPEATABLE).finished;
    await settled();
    const log = exchange(transport, url, REPEATABLE);
    await log.finished;
    expect([log.error?.kind, sockets.length]).toEqual(['reset', 2]);
  });

  it('two seconds after it went out, and its body is kept no longer', async () => {
    const clock = createFakeClock();
    const held: Socket[] = [];
    let arrived: () => void = () => undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const { url } = await forgetful((socket) => {
      held.push(socket);
      arrived();
    });
    const transport = create({ clock });
    await exchange(transport, url, REPEATABLE).finished;
    await settled();
    const events: string[] = [];
    let over: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (over = resolve));
    const sink: UpstreamSink = {
      onSent: () => void events.push('sent'),
      onHead: () => void events.push('head'),
      onData: () => undefined,
      onEnd: over,
      onError(error) {
        events.push(error.kind);
        over();
      },
    };
    transport.send({ url: new URL(url), method: 'POST', headers: [], ...REPEATABLE }, sink);
    await arrival;
    await settled();
    clock.advance(1000);
    expect(events).toEqual([]);
    clock.advance(1000);
    expect(events).toEqual(['sent']);
    held[0]?.resetAndDestroy();
    await finished;
    expect(events).toEqual(['sent', 'reset']);
  });
});
