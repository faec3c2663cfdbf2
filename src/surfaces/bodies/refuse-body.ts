import type { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../core/errors.ts';

/**
 * Most bytes that are still taken from a client whose body was refused, so that it gets to read the
 * answer.
 */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
const PLAIN = /^[\s,]*(?:identity[\s,]*)*$/i;

/** Cause for not reading a body at all: it is no longer sent, or more is announced than is taken. */
export function refuseUnread(request: IncomingMessage, limit: number): GatewayError | undefined {
  // The client may have left while the checks before this waited: then no event would ever come.
  if (request.destroyed) return cutOff();
  const declared = declaredLength(request) ?? 0;
  if (declared <= limit) return undefined;
  const error = bodyTooLarge(limit);
  if (declared > MAX_DISCARDED_BYTES) return error.with({ headers: { connection: 'close' } });
  return discardRest(request, error);
}

/** The refusal of a body in a content coding, which nothing here undoes (RFC 9110, 15.5.16). */
export function refuseCoded(request: IncomingMessage): GatewayError | undefined {
  const coding = request.headers['content-encoding'];
  if (coding === undefined || PLAIN.test(coding) || declaredLength(request) === 0) return undefined;
  const error = new GatewayError('coded_body', { headers: { 'accept-encoding': 'identity' } });
  return discardRest(request, error);
}

/** Bytes of the body as announced; undefined for one whose end gives its length. */
export function declaredLength({ headers }: IncomingMessage): number | undefined {
  return headers['transfer-encoding'] === undefined
    ? Number(headers['content-length'] ?? 0)
    : undefined;
}

export function bodyTooLarge(limit: number): GatewayError {
  const message = `request body is larger than the limit of ${limit} bytes`;
  return new GatewayError('body_too_large', { message });
}

export function cutOff(cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', { message: 'the request body was cut off', cause });
}

/** Discards the rest of a body that was refused with `error`, which it returns. */
export function discardRest<T>(request: IncomingMessage, error: T): T {
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) request.destroy();
  });
  request.on('error', () => undefined);
  return error;
}
