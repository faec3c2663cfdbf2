import type { Writable } from 'node:stream';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';

/**
 * Writes a body as fast as the socket takes it. Resolves when all of it is written or the socket was
 * destroyed; rejects when the body cannot be read or is not as long as it says.
 */
export async function sendBody(socket: Writable, body: SpooledBody): Promise<void> {
  let sent = 0;
  for await (const chunk of body.open()) {
    if (socket.destroyed) return;
    sent += chunk.length;
    if (sent > body.length) break;
    if (!socket.write(chunk)) await drained(socket);
  }
  if (sent !== body.length && !socket.destroyed)
    throw new Error('the request body is not as long as announced');
}

function drained(socket: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}
