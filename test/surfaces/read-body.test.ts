import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ByteBudget } from '../../src/core/memory/byte-budget.ts';
import { readBody } from '../../src/surfaces/read-body.ts';
import type { BodySource } from '../../src/surfaces/read-body.ts';
import { bodySource } from '../support/body-intake.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { eventually } from '../support/gateway.ts';

const BOUNDS = { limit: 100, holder: 'key_1' };

/** A request whose head has arrived and whose body is still to come. */
async function openRequest({ framing = 'content-length: 5', bytes = 1_000 } = {}): Promise<{
  request: IncomingMessage;
  source: BodySource;
  socket: Socket;
  budget: ByteBudget;
}> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`POST / HTTP/1.1\r\nhost: localhost\r\n${framing}\r\n\r\n`);
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  onTestFinished(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  const budget = new ByteBudget({ clock: createFakeClock(), bytes, waitMs: 1_000, maxWaiting: 9 });
  return { request, source: bodySource(request, response, budget), socket, budget };
}

it('collects a body that comes in pieces', async () => {
  const { source, socket } = await openRequest();
  const body = readBody(source, BOUNDS);
  socket.write('he');
  socket.write('llo');
  expect((await body).toString()).toBe('hello');
});

it('refuses a body whose client leaves in the middle', async () => {
  const { request, source, socket } = await openRequest();
  const body = readBody(source, BOUNDS);
  socket.write('he');
  await once(request, 'data');
  socket.destroy();
  await expect(body).rejects.toMatchObject({ code: 'invalid_request' });
});

it('refuses at once when the client left before anybody read', async () => {
  const { request, source, socket } = await openRequest();
  request.on('error', () => undefined);
  const closed = new Promise((resolve) => request.once('close', resolve));
  socket.destroy();
  await closed;
  await expect(readBody(source, BOUNDS)).rejects.toMatchObject({ code: 'invalid_request' });
}, 2_000);

const OTHER = { holder: 'key_2', bytes: 998 };

it('reads nothing of a body of known length before there is room for it', async () => {
  const { source, socket, budget } = await openRequest();
  budget.tryTake(OTHER);
  const body = readBody(source, BOUNDS);
  socket.write('hello');
  await eventually(() => budget.waiting.count === 1);
  expect(source.request.listenerCount('data')).toBe(0);
  budget.giveBack(OTHER.holder, OTHER.bytes);
  expect((await body).toString()).toBe('hello');
  expect(budget.used).toBe(5);
  source.intake.release();
  source.intake.release();
  expect(budget.used).toBe(0);
});

it('holds a body of unknown length back while there is no room for more, and then what it has', async () => {
  const { source, socket, budget } = await openRequest({ framing: 'transfer-encoding: chunked' });
  const body = readBody(source, BOUNDS);
  socket.write('2\r\nhe\r\n');
  await eventually(() => budget.used === 100);
  source.intake.shrink(2);
  budget.tryTake(OTHER);
  socket.write('3\r\nllo\r\n');
  await eventually(() => budget.waiting.count === 1);
  expect(source.request.isPaused()).toBe(true);
  budget.giveBack(OTHER.holder, OTHER.bytes);
  socket.write('0\r\n\r\n');
  expect((await body).toString()).toBe('hello');
  expect(budget.used).toBe(5);
});

it('takes no room for a body whose intake is over', async () => {
  const { source, socket, budget } = await openRequest();
  budget.tryTake(OTHER);
  const body = readBody(source, BOUNDS);
  await eventually(() => budget.waiting.count === 1);
  // In the same moment, in either order.
  budget.giveBack(OTHER.holder, OTHER.bytes);
  source.intake.release();
  socket.write('hello');
  await body;
  expect(budget.used).toBe(0);
});

it('refuses a body for which no room becomes free, and lets its client finish', async () => {
  const { source, socket, budget } = await openRequest({ bytes: 4 });
  const body = readBody(source, BOUNDS);
  const refused = expect(body).rejects.toMatchObject({
    code: 'no_room_for_body',
    status: 503,
    headers: { 'retry-after': '1' },
  });
  source.intake.release();
  await refused;
  socket.write('hello');
  await eventually(() => source.request.complete);
  expect(budget.used).toBe(0);
});
