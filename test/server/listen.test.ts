import { once } from 'node:events';
import { connect } from 'node:net';
import { H3 } from 'h3';
import { expect, it } from 'vitest';
import { listen } from '../../src/server/listen.ts';

const LIMITS = {
  rpm: null,
  bodyBytes: 1024,
  headerBytes: 16_384,
  urlBytes: 8192,
  requestTimeoutMs: 30_000,
  outputTokensBound: 1,
  maxConnections: 10,
};

it('drains at once when the only connection has never sent a request', async () => {
  const listener = await listen(new H3(), { host: '127.0.0.1', port: 0, limits: LIMITS });
  const socket = connect(Number(new URL(listener.url).port), '127.0.0.1');
  await once(socket, 'connect');
  const answered = await fetch(listener.url);
  await answered.text();
  const closed = once(socket, 'close');
  await listener.drain();
  await closed;
  expect(socket.destroyed).toBe(true);
}, 5_000);
