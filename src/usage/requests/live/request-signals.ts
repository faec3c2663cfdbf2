import type { RequestOutcome } from '../../ledger/ledger.ts';
import type { StartFacts } from '../request-row.ts';

/** Start of a request that is made known. */
export interface KnownStart extends StartFacts {
  readonly id: string;
}

/** Listener for the requests of this process. */
export interface RequestListener {
  /** The start of its record is durable. */
  begun(start: KnownStart): void;
  ended(start: KnownStart, outcome: RequestOutcome): void;
}

/**
 * Signals of the data plane about its requests. Mostly without a listener; then a request only costs the look
 * for one.
 */
export interface RequestSignals {
  listener: RequestListener | undefined;
}
