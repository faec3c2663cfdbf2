import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { readBody } from '../../src/surfaces/read-body.ts';
import type { BodySource } from '../../src/surfaces/read-body.ts';
import { bodySource } from '../support/body-intake.ts';

const BOUNDS = { limit: 100, holder: 'key_1' };

/** A request whose head has arrived and whose body is still to come. */
async function openRequest(): Promise<{
  request: IncomingMessage;
  source: BodySource;
  socket: Socket;
}> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n');
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  onTestFinished(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  return { request, source: bodySource(request, response), socket };
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
