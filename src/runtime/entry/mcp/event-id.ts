import { z } from 'zod';
import { parseJson } from '../../../core/json/value.ts';
import { isId } from '../json-rpc.ts';
import type { RpcId } from '../json-rpc.ts';

/**
 * Position of a call that waits for a turn. It is read only from the log of the Session, so any
 * process can continue the stream and none keeps state for it.
 */
export interface CallPosition {
  readonly sessionId: string;
  /** Id of the `user.message` event that the call sent. */
  readonly messageId: string;
  readonly requestId: RpcId;
  readonly progressToken: RpcId | undefined;
  /** Events of the turn that were sent. */
  readonly told: number;
  /** Number of the last progress notification. */
  readonly progress: number;
}

/** The id of an event of a stream, as a client gives it back in `Last-Event-ID`. */
export type StreamPlace =
  | { readonly type: 'call'; readonly at: CallPosition }
  /** Nothing follows: the call is answered or taken back. */
  | { readonly type: 'end' }
  /** The server's own stream, which has no messages that could be missed. */
  | { readonly type: 'server' };

export const END_ID = 'end';
export const SERVER_ID = 'server';

/** Characters of the ids that a client chose; longer ones would outgrow the header that brings them back. */
const MAX_ID_CHARS = 200;
const MAX_EVENT_ID_CHARS = 2_000;

const rpcId = z.union([z.string(), z.number()]);
const count = z.int().min(0);
const parts = z.tuple([z.string(), z.string(), rpcId, rpcId.nullable(), count, count]);

/** Undefined for a call that cannot be resumed, because its client chose ids that are too long. */
export function toEventId(at: CallPosition): string | undefined {
  const { sessionId, messageId, requestId, progressToken, told, progress } = at;
  const isLong = (id: unknown): boolean => isId(id) && JSON.stringify(id).length > MAX_ID_CHARS;
  if (isLong(requestId) || isLong(progressToken)) return undefined;
  const values = [sessionId, messageId, requestId, progressToken ?? null, told, progress];
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** Undefined for an id that is not of these streams. */
export function fromEventId(id: string): StreamPlace | undefined {
  if (id === END_ID) return { type: 'end' };
  if (id === SERVER_ID) return { type: 'server' };
  if (id.length > MAX_EVENT_ID_CHARS) return undefined;
  const read = parts.safeParse(parseJson(Buffer.from(id, 'base64url').toString()));
  if (!read.success) return undefined;
  const [sessionId, messageId, requestId, token, told, progress] = read.data;
  const progressToken = token ?? undefined;
  return { type: 'call', at: { sessionId, messageId, requestId, progressToken, told, progress } };
}
