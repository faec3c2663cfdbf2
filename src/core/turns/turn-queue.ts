import type { Clock } from '../time/clock.ts';

export interface TurnQueueOptions {
  readonly clock: Clock;
  /** Number of calls that share the event loop with the queue and began so far. */
  readonly others: () => number;
}

/** Milliseconds from one to the next while there are others. */
const GAP_MS = 6;
/** Milliseconds after which a call counts as gone by. */
const QUIET_MS = 250;

/**
 * Queue in which simultaneous callers continue one by one, each in a tick of its own, so that other work on the
 * event loop waits for one of them at most. While others are served, the queue also leaves most of the time to
 * them.
 */
export class TurnQueue {
  readonly #options: TurnQueueOptions;
  readonly #waiting: (() => void)[] = [];
  #seen = 0;
  #seenAt = -Infinity;
  #lastAt = -Infinity;

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  /** Resolves, in the order of the calls, when it is the caller's turn. */
  enter(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) this.#next();
    });
  }

  #next(): void {
    const { clock } = this.#options;
    const gap = this.#isShared() ? this.#lastAt + GAP_MS - clock.monotonic() : 0;
    if (gap > 0) clock.setTimeout(this.#turn, gap);
    else setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#lastAt = this.#options.clock.monotonic();
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#next();
  };

  #isShared(): boolean {
    const { clock, others } = this.#options;
    const [now, count] = [clock.monotonic(), others()];
    if (count !== this.#seen) [this.#seen, this.#seenAt] = [count, now];
    return now - this.#seenAt < QUIET_MS;
  }
}
