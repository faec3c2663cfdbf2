import type { IncomingMessage } from 'node:http';
import { ByteGatherer } from '../core/byte-gatherer.ts';
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
  const refusal = refuseUnread(request, limit);
  if (refusal) return Promise.reject(refusal);
  return new Promise((resolve, reject) => {
    const gathered = new ByteGatherer();
    const onData = (chunk: Buffer): void => {
      gathered.add(chunk);
      if (gathered.length <= limit) return;
      request.off('data', onData);
      reject(discardRest(request, bodyTooLarge(limit)));
    };
    request.on('data', onData);
    request.on('end', () => resolve(gathered.concat()));
    request.on('close', () => {
      if (!request.complete) reject(cutOff());
    });
    request.on('error', (error) => reject(new GatewayError('invalid_request', { cause: error })));
  });
}

/** Why a body is not read at all: nobody sends it any more, or more is announced than is taken. */
export function refuseUnread(request: IncomingMessage, limit: number): GatewayError | undefined {
  // The client may have left while the checks before this waited: then no event would ever come.
  if (request.destroyed) return cutOff();
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared <= limit) return undefined;
  const error = bodyTooLarge(limit);
  if (declared > MAX_DISCARDED_BYTES) return error.with({ headers: { connection: 'close' } });
  return discardRest(request, error);
}

export function bodyTooLarge(limit: number): GatewayError {
  const message = `request body is larger than the limit of ${limit} bytes`;
  return new GatewayError('body_too_large', { message });
}

export function cutOff(cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', { message: 'the request body was cut off', cause });
}

/** Lets go of the rest of a body that was refused with `error`, which it gives back. */
export function discardRest<T>(request: IncomingMessage, error: T): T {
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) request.destroy();
  });
  request.on('error', () => undefined);
  return error;
}
