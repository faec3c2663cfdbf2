import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.ts';

/** What is still taken from a client whose body was refused, so that it gets to read the answer. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/**
 * Collects a request body.
 *
 * @param limit bytes
 * @throws GatewayError `body_too_large` before the rest of it is read; `invalid_request` when the
 *   client stops in the middle
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  // The client may have left while the checks before this waited: then no event would ever come.
  if (request.destroyed) return Promise.reject(cutOff());
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limit) return Promise.reject(refuse(request, declared, limit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= limit) return;
      request.off('data', onData);
      reject(refuse(request, size, limit));
    };
    request.on('data', onData);
    request.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
    );
    request.on('close', () => {
      if (!request.complete) reject(cutOff());
    });
    request.on('error', (error) => reject(new GatewayError('invalid_request', { cause: error })));
  });
}

function cutOff(): GatewayError {
  return new GatewayError('invalid_request', { message: 'the request body was cut off' });
}

function refuse(request: IncomingMessage, size: number, limit: number): GatewayError {
  const message = `request body is larger than the limit of ${limit} bytes`;
  if (size > MAX_DISCARDED_BYTES) {
    return new GatewayError('body_too_large', { message, headers: { connection: 'close' } });
  }
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) request.destroy();
  });
  request.on('error', () => undefined);
  return new GatewayError('body_too_large', { message });
}
