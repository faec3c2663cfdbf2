import type { RequestStart, RequestOutcome } from './ledger.ts';

/** A cost that becomes due after its call was answered: a task that ran on at the provider. */
export interface Charge extends Pick<RequestStart, 'principal' | 'surface' | 'model'> {
  /** Of the task: the same id is charged once, however often and by however many processes it is asked. */
  readonly id: string;
  /** Milliseconds since epoch. */
  readonly at: number;
  readonly outcome: RequestOutcome;
}

/** Charges for work that outlived its call, each exactly once (requirement video.tasks.charged-once). */
export interface Charges {
  /** Durable when it resolves. Rejects with `persistence_failed`; to be repeated then. */
  charge(charge: Charge): Promise<void>;
}
