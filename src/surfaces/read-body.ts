import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { ByteGatherer } from '../core/sse/byte-gatherer.ts';
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

/** Room that is requested beyond the received bytes, for a body of unknown length. */
const ROOM_AHEAD_BYTES = 64 * 1024;

/**
 * Collects a request body. Nothing of it is read before there is room for it in the memory of all bodies; that
 * room is released with the exchange's intake.
 *
 * @throws GatewayError `body_too_large` before the rest of it is read; `coded_body` for one in a
 * content coding; `no_room_for_body`; `invalid_request` when the client stops in the middle
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
  let whole: Buffer | undefined;
  let at = 0;
  const onData = (chunk: Buffer): void => {
    // Most bodies come in one chunk.
    if (chunk.length === length) whole = chunk;
    else {
      whole ??= Buffer.allocUnsafeSlow(length);
      at += chunk.copy(whole, at);
    }
  };
  return untilEnd(request, { onData, take: () => whole ?? Buffer.alloc(0) });
}

/** Grows with the received bytes; the client is held back while there is no room for more. */
function collectOpen(
  { request, intake }: BodySource,
  { limit, holder }: BodyBounds,
): Promise<Buffer> {
  const gathered = new ByteGatherer();
  const onData = (chunk: Buffer, giveUp: (error: unknown) => void): void => {
    gathered.add(chunk);
    if (gathered.length > limit) return giveUp(bodyTooLarge(limit));
    if (gathered.length <= intake.held) return;
    const room = intake.reserve(holder, Math.min(gathered.length + ROOM_AHEAD_BYTES, limit));
    if (!room) return;
    request.pause();
    room.then(() => void request.resume(), giveUp);
  };
  const take = (): Buffer => {
    intake.shrink(gathered.length);
    return gathered.concat();
  };
  return untilEnd(request, { onData, take });
}

interface Collector {
  /** Takes one piece; `giveUp` refuses the rest. */
  onData(chunk: Buffer, giveUp: (error: unknown) => void): void;
  /** The whole. */
  take(): Buffer;
}

/** Listens no longer than it has to: a listener that stays would keep the body as long as the request. */
function untilEnd(request: IncomingMessage, { onData, take }: Collector): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const onChunk = (chunk: Buffer): void => onData(chunk, giveUp);
    const onEnd = (): void => {
      settle();
      resolve(take());
    };
    const onClose = (): void => {
      settle();
      reject(cutOff());
    };
    const onError = (cause: Error): void => {
      settle();
      reject(new GatewayError('invalid_request', { cause }));
    };
    const giveUp = (error: unknown): void => {
      settle();
      reject(discardRest(request, error));
      request.resume();
    };
    const settle = (): void => {
      request.off('data', onChunk).off('end', onEnd).off('close', onClose).off('error', onError);
      // A client that leaves later is noticed by the code that waits for the answer.
      request.on('error', ignore);
    };
    request.on('data', onChunk).on('end', onEnd).on('close', onClose).on('error', onError);
  });
}

const ignore = (): void => undefined;
