import type { Clock } from '../../core/time/clock.ts';
import { PollLoop } from '../../jobs/poll-loop.ts';
import { DUE_PREFIX } from '../../resources/store/due-index.ts';
import type { Store } from '../../store/store.ts';

/** The first Schedule of another process is seen no later, should the watch have missed it. */
const MAX_SLEEP_MS = 10_000;

export interface DueWatchOptions {
  readonly store: Pick<Store, 'list' | 'watch'>;
  readonly clock: Clock;
  /** Runs once there is a Schedule that will be due, and again while it rejects. */
  begin(): Promise<void>;
  /** Receives errors of the store and of `begin`; both are tried again. */
  report(error: unknown): void;
}

/** Waits for the first Schedule, so that a gateway without one loads nothing that fires them. */
export class DueWatch {
  readonly #options: DueWatchOptions;
  readonly #unwatch: () => void;
  readonly #loop: PollLoop;
  #isDone = false;

  constructor(options: DueWatchOptions) {
    this.#options = options;
    this.#loop = new PollLoop({
      clock: options.clock,
      maxSleepMs: MAX_SLEEP_MS,
      poll: () => this.#look(),
      report: (error) => options.report(error),
    });
    this.#unwatch = options.store.watch(DUE_PREFIX, () => this.#loop.wake());
    this.#loop.wake();
  }

  /** Begins nothing further; resolves when the pending begins have finished. Idempotent. */
  async close(): Promise<void> {
    this.#unwatch();
    await this.#loop.close();
  }

  async #look(): Promise<number> {
    if (this.#isDone) return Infinity;
    const { store, begin } = this.#options;
    const [first] = await store.list({ prefix: DUE_PREFIX, limit: 1 });
    if (!first) return Infinity;
    await begin();
    this.#isDone = true;
    this.#unwatch();
    // Nothing awaits it: the loop waits for this very look.
    void this.#loop.close();
    return Infinity;
  }
}
