import type { Clock, Timer } from '../core/time/clock.ts';

export interface LookLoopOptions {
  readonly clock: Clock;
  /** The wall clock may step and a watch may miss: the next look is no later, in milliseconds. */
  readonly maxSleepMs: number;
  /** Does what is due; returns for how many milliseconds there is nothing to do. */
  look(): Promise<number>;
  /** Receives errors of looks that failed. */
  report(error: unknown): void;
}

/** After a look that failed. */
const SLEEP_AGAIN_MS = 1_000;

/** Looks for what is due, one look at a time, and sleeps in between until something wakes it. */
export class LookLoop {
  readonly #options: LookLoopOptions;
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #closed = false;

  constructor(options: LookLoopOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  wake(): void {
    if (this.#closed) return;
    this.#lookAgain = true;
    this.#looking ??= this.#look();
  }

  /** Begins no further look, from now on; resolves when the one under way has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { clock, maxSleepMs, look, report } = this.#options;
    this.#timer?.cancel();
    let sleepMs = 0;
    while ((this.#lookAgain || sleepMs === 0) && !this.#closed) {
      this.#lookAgain = false;
      try {
        sleepMs = await look();
      } catch (error) {
        report(error);
        sleepMs = SLEEP_AGAIN_MS;
      }
    }
    this.#looking = undefined;
    if (this.#closed) return;
    this.#timer = clock.setTimeout(() => this.wake(), Math.min(sleepMs, maxSleepMs));
  }
}
