import type { RequestStart, RequestOutcome } from '../ledger/ledger.ts';
import type { RequestOrigin } from '../origin.ts';
import type { PayingKey, Principal } from '../principal.ts';

/** A cost that becomes due after its call was answered: a task that ran on at the provider. */
export interface Charge extends Pick<RequestStart, 'surface' | 'model' | 'origin'> {
  /**
   * Id of the task: the same id is charged once, however often and by however many processes it is
   * asked.
   */
  readonly id: string;
  readonly principal: PayingKey;
  /** Milliseconds since epoch; the day that it counts on. */
  readonly at: number;
  readonly outcome: RequestOutcome;
}

/** Most that a task may still cost. */
export interface Hold {
  /** Id of the task. */
  readonly id: string;
  readonly principal: Principal;
  /** Logical model; without it only budgets for every model count the task. */
  readonly model?: string | undefined;
  readonly origin?: RequestOrigin | undefined;
  /** Milliseconds since epoch; the day that it counts on. */
  readonly at: number;
  /** The most that it can cost, in nano-dollars. */
  readonly bound: number;
}

/** Charges for work that outlived its call, each exactly once (requirement video.tasks.charged-once). */
export interface Charges {
  /**
   * Keeps the bound reserved where the key or its organization has a spending limit, until the task is
   * charged or released; also while no process runs. Never refuses: the call that started the task was
   * let in with that bound. Asked again, or for a task that is over, it changes nothing. Durable when
   * it resolves. Rejects with `persistence_failed`; to be repeated then.
   */
  hold(hold: Hold): Promise<void>;
  /**
   * Writes the record of the charge and counts it, in place of the reservation. Does nothing for a task that is
   * charged or released. Durable when it resolves. Rejects with `persistence_failed`; to be repeated then.
   */
  charge(charge: Charge): Promise<void>;
  /**
   * Releases the reservation of a task that is over and costs nothing. Rejects with `persistence_failed`; to be
   * repeated then.
   */
  release(id: string): Promise<void>;
}
