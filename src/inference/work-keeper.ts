import type { Buffer } from 'node:buffer';
import type { Answer, StreamReader } from '../protocols/protocol.ts';
import type { Principal } from '../usage/principal.ts';
import type { Consumption } from './settlement.ts';
import type { Call, ResponseHeaders } from './types.ts';

/** Response that the client gets in place of an answer. */
export interface KeptAnswer {
  readonly body: Buffer;
  /** Beside the usual ones. */
  readonly headers: ResponseHeaders;
  /** Consumption of the call; undefined where nothing is due, or not yet. */
  readonly consumption: Consumption | undefined;
}

/**
 * Looks after work that stays with a provider when its call is over: that can be asked for later, be
 * continued, or go on by itself. A rejection is what the client is told, and the call is given up.
 */
export interface WorkKeeper {
  /** Id of the account that made what a request of the caller continues; throws when it is not known. */
  ownerOf(principal: Principal, pins: readonly string[]): Promise<string>;
  /** A whole answer came. Resolves when all that has to outlive the call is durable. */
  onAnswer(call: Call, answer: Answer): Promise<KeptAnswer>;
  /** A stream has begun, of which the client has seen nothing yet. Resolves like `onAnswer`. */
  onStream(call: Call, reader: StreamReader): Promise<void>;
  /** It is over, however it ended. Resolves to what the call consumed, as in {@link KeptAnswer}; never rejects. */
  onStreamEnd(call: Call, reader: StreamReader): Promise<Consumption | undefined>;
}
