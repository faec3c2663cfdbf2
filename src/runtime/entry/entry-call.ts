import type { HttpExchange } from '../../surfaces/http-exchange.ts';
import type { PayingKey } from '../../usage/principal.ts';
import type { Service } from './service-desk.ts';

/** A call of an entry point, let in by the gate. */
export interface EntryCall {
  readonly exchange: HttpExchange;
  readonly service: Service;
  readonly payer: PayingKey;
  /** True for a key that may read every Session of the organization. */
  readonly seesAll: boolean;
  /** Releases the key's in-flight slot early, for a call that only waits: a turn needs the slot. */
  leave(): void;
  /** Calls `end` once the key may make the call no longer; gives what ends the watch. */
  watchKey(end: () => void): () => void;
}

/** One that has a body. */
export interface PostedCall extends EntryCall {
  readonly body: Buffer;
}
