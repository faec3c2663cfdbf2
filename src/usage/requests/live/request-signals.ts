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
 * Place where the data plane tells of its requests. Nobody listens most of the time; then a request
 * costs no more than the look for a listener.
 */
export interface RequestSignals {
  listener: RequestListener | undefined;
}
