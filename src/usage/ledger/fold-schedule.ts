import type { Clock } from '../../core/time/clock.ts';
import type { LedgerState } from './ledger-plan.ts';

const FOLD_MS = 1_000;
/** Between two notes of what the calls cost so far that are followed. */
const FOLLOW_MS = 3_000;
/** Unfolded rows that make a fold due at once, and the most that one fold takes. */
export const MAX_UNFOLDED = 256;

export interface FoldScheduleOptions {
  readonly clock: Clock;
  readonly state: Pick<LedgerState, 'unfolded' | 'followed' | 'slices'>;
  /** Callback when a fold has become due. */
  readonly onDue: () => void;
}

/** Times at which a worker adds settlements without a limit to the counters, and notes costs so far. */
export class FoldSchedule {
  readonly #options: FoldScheduleOptions;
  #asked = false;
  #timer = false;
  #followTimer = false;

  constructor(options: FoldScheduleOptions) {
    this.#options = options;
  }

  /** True while there is something to fold and its time has come. */
  get isDue(): boolean {
    const { unfolded, followed, slices } = this.#options.state;
    this.#asked &&= unfolded.size > 0 || followed.isDue || slices.isIdle;
    return this.#asked;
  }

  /** Makes a fold due, if there is anything to fold. */
  ask(): void {
    this.#asked = true;
  }

  /** The fold that was due begins. */
  begun(): void {
    this.#asked = false;
  }

  /** Sees to what a commit left unfolded: within a second, or at once where that is asked or it is much. */
  plan(isAtOnce: boolean): void {
    const { state } = this.#options;
    const { size } = state.unfolded;
    if (size === 0 && state.slices.size === 0) return;
    if (size > MAX_UNFOLDED || isAtOnce) this.#asked = true;
    this.later();
  }

  /** Makes a fold due in a second. */
  later(): void {
    if (this.#timer) return;
    this.#timer = true;
    const { clock, state, onDue } = this.#options;
    clock.setTimeout(() => {
      this.#timer = false;
      this.#asked = true;
      onDue();
      // Those in use now will be idle later.
      if (state.slices.size > 0) this.plan(false);
    }, FOLD_MS);
  }

  /** Sees to the costs so far of calls that are followed. */
  follow(): void {
    if (this.#followTimer) return;
    this.#followTimer = true;
    const { clock, state, onDue } = this.#options;
    clock.setTimeout(() => {
      this.#followTimer = false;
      // Rows left of calls that have all ended go with the next fold.
      if (state.followed.size === 0 && !state.followed.isDue) return;
      state.followed.elapsed();
      this.#asked = true;
      onDue();
      if (state.followed.size > 0) this.follow();
    }, FOLLOW_MS);
  }
}
