import type { Buffer } from 'node:buffer';
import type { Answer, StreamReader } from '../protocols/protocol.ts';
import type { Principal } from '../usage/principal.ts';
import type { Consumption } from './settlement.ts';
import type { Call, ResponseHeaders } from './types.ts';

/** Answer for the client in place of the provider's. */
export interface TrackedAnswer {
  readonly body: Buffer;
  /** Added to the usual ones. */
  readonly headers: ResponseHeaders;
  /** Consumption of the call; undefined where nothing is due, or not yet. */
  readonly consumption: Consumption | undefined;
}

/**
 * Looks after work that stays with a provider when its call is over: that can be asked for later, be
 * continued, or go on by itself. A rejection is what the client is told, and the call is given up.
 */
export interface TaskTracker {
  /** Id of the account that made what a request of the caller continues; throws when it is not known. */
  ownerOf(principal: Principal, pins: readonly string[]): Promise<string>;
  /** Takes a whole answer. Resolves when all that has to outlive the call is durable. */
  onAnswer(call: Call, answer: Answer): Promise<TrackedAnswer>;
  /** Takes a stream of which the client has seen nothing yet. Resolves like `onAnswer`. */
  onStream(call: Call, reader: StreamReader): Promise<void>;
  /** Takes the end of a stream, however it ended. Resolves to the call's consumption; never rejects. */
  onStreamEnd(call: Call, reader: StreamReader): Promise<Consumption | undefined>;
}
