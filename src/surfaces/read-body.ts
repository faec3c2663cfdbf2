import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { ByteGatherer } from '../core/byte-gatherer.ts';
import { GatewayError } from '../core/errors.ts';
import {
  bodyTooLarge,
  cutOff,
  declaredLength,
  discardRest,
  refuseCoded,
  refuseUnread,
} from './bodies/refuse-body.ts';
import type { HttpExchange } from './http-exchange.ts';

/** The part of an exchange that a body comes by. */
export type BodySource = Pick<HttpExchange, 'request' | 'intake'>;

export interface BodyBounds {
  /** Bytes. */
  readonly limit: number;
  /** Id of the key in whose name the body takes up memory. */
  readonly holder: string;
}

/** Room that is asked for beyond what came, for a body that does not tell its length. */
const ROOM_AHEAD_BYTES = 64 * 1024;

/**
 * Collects a request body. Nothing of it is read before there is room for it in the memory of all
 * bodies; what it takes up is given back with the exchange's intake.
 *
 * @throws GatewayError `body_too_large` before the rest of it is read; `coded_body` for one in a
 *   content coding; `no_room_for_body`; `invalid_request` when the client stops in the middle
 */
export function readBody(source: BodySource, bounds: BodyBounds): Promise<Buffer> {
  const { request, intake } = source;
  const refusal = refuseUnread(request, bounds.limit) ?? refuseCoded(request);
  if (refusal) return Promise.reject(refusal);
  const length = declaredLength(request);
  const room = intake.reserve(bounds.holder, length ?? 0);
  const collect = (): Promise<Buffer> => {
    intake.invite();
    return length === undefined ? collectOpen(source, bounds) : collectWhole(request, length);
  };
  if (!room) return collect();
  return room.then(collect, (error: unknown) => Promise.reject(discardRest(request, error)));
}

/** A body of known length becomes one piece of memory, and never two. */
function collectWhole(request: IncomingMessage, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let whole: Buffer | undefined;
    let at = 0;
    request.on('data', (chunk: Buffer) => {
      // Most bodies come in one chunk.
      if (chunk.length === length) whole = chunk;
      else {
        whole ??= Buffer.allocUnsafeSlow(length);
        at += chunk.copy(whole, at);
      }
    });
    request.on('end', () => {
      resolve(whole ?? Buffer.alloc(0));
      whole = undefined;
    });
    rejectBroken(request, reject);
  });
}

/** Grows with what comes; the client is held back while there is no room for more. */
function collectOpen(
  { request, intake }: BodySource,
  { limit, holder }: BodyBounds,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let gathered = new ByteGatherer();
    const giveUp = (error: unknown): void => {
      request.off('data', onData);
      gathered = new ByteGatherer();
      reject(discardRest(request, error));
      request.resume();
    };
    const onData = (chunk: Buffer): void => {
      gathered.add(chunk);
      if (gathered.length > limit) return giveUp(bodyTooLarge(limit));
      if (gathered.length <= intake.held) return;
      const room = intake.reserve(holder, Math.min(gathered.length + ROOM_AHEAD_BYTES, limit));
      if (!room) return;
      request.pause();
      room.then(() => void request.resume(), giveUp);
    };
    request.on('data', onData);
    request.on('end', () => {
      intake.shrink(gathered.length);
      resolve(gathered.concat());
      gathered = new ByteGatherer();
    });
    rejectBroken(request, reject);
  });
}

function rejectBroken(request: IncomingMessage, reject: (error: GatewayError) => void): void {
  request.on('close', () => {
    if (!request.complete) reject(cutOff());
  });
  request.on('error', (error) => reject(new GatewayError('invalid_request', { cause: error })));
}
