import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { H3 } from 'h3';
import { FastResponse } from 'srvx';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { listen } from '../../../src/server/http/listen.ts';
import { verifies } from '../../requirements.ts';
import { BODY_VALUES, RESOURCE_VALUES } from '../../support/value-bounds.ts';

const ids = createIdSource(systemClock);

const LIMITS = {
  rpm: null,
  bodyBytes: 1024,
  bodyValues: BODY_VALUES,
  resourceValues: RESOURCE_VALUES,
  headerBytes: 16_384,
  urlBytes: 8192,
  requestTimeoutMs: 30_000,
  interactionWaitMs: 60_000,
  runRetentionMs: 1,
  outputTokensBound: 1,
  maxConnections: 10,
};

it('drains at once when the only connection has never sent a request', async () => {
  const listener = await listen(new H3(), {
    host: '127.0.0.1',
    port: 0,
    limits: LIMITS,
    drainIdleMs: 100,
    ids,
  });
  const socket = connect(Number(new URL(listener.url).port), '127.0.0.1');
  await once(socket, 'connect');
  const answered = await fetch(listener.url);
  await answered.text();
  const closed = once(socket, 'close');
  await listener.drain();
  await closed;
  expect(socket.destroyed).toBe(true);
}, 40_000);

async function talk(url: string, text: string): Promise<{ socket: Socket; said: () => string }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let said = '';
  socket.on('error', () => undefined);
  socket.setEncoding('latin1').on('data', (piece: string) => (said += piece));
  await once(socket, 'connect');
  socket.write(text);
  return { socket, said: () => said };
}

describe('what is no request', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n', 400],
    ['a head that is too large', `GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a head that stops', 'GET / HTTP/1.1\r\nhost: lo', 408],
    [
      'two lengths of one body',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      400,
    ],
  ])(
    verifies('errors.request-id.header', 'is answered with an id and a reason: %s'),
    async (_what, text, status) => {
      const limits = { ...LIMITS, requestTimeoutMs: 200 };
      const listener = await listen(new H3(), {
        host: '127.0.0.1',
        port: 0,
        limits,
        drainIdleMs: 100,
        ids,
      });
      const { socket, said } = await talk(listener.url, text);
      await once(socket, 'close');
      await listener.drain();
      const [head = '', body = ''] = said().split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      const [, id] = /\r\nx-request-id: (req_\w+)/.exec(head) ?? [];
      expect(id).toBeDefined();
      expect(head).toContain(`\r\nrequest-id: ${id}`);
      expect(JSON.parse(body)).toEqual({ error: expect.any(String) });
    },
  );

  it('never breaks into an answer that has begun', async () => {
    const endless = (): Response =>
      new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(1_000)) }));
    const app = new H3().get('/', endless);
    const listener = await listen(app, {
      host: '127.0.0.1',
      port: 0,
      limits: LIMITS,
      drainIdleMs: 100,
      ids,
    });
    const { socket, said } = await talk(listener.url, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await once(socket, 'data');
    socket.write('nonsense\r\n\r\n');
    await once(socket, 'close');
    expect(said()).not.toContain('400');
    await listener.drain();
  });
});

it(
  verifies('ops.slow-client', 'closes the connection of a client that does not take its answer'),
  async () => {
    const app = new H3().get('/', () => new FastResponse('x'.repeat(32_000_000)));
    const limits = { ...LIMITS, requestTimeoutMs: 200 };
    const listener = await listen(app, {
      host: '127.0.0.1',
      port: 0,
      limits,
      drainIdleMs: 100,
      ids,
    });
    const { socket } = await talk(listener.url, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    // Only an end of every connection ends the drain.
    await listener.drain();
    socket.destroy();
  },
  60_000,
);
