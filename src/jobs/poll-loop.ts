import type { Clock, Timer } from '../core/time/clock.ts';

export interface PollLoopOptions {
  readonly clock: Clock;
  /** The wall clock may step and a watch may miss: the next poll is no later, in milliseconds. */
  readonly maxSleepMs: number;
  /** Does the due work; returns for how many milliseconds there is none. */
  poll(): Promise<number>;
  /** Receives errors of polls that failed. */
  report(error: unknown): void;
}

/** Pause after a poll that failed. */
const SLEEP_AGAIN_MS = 1_000;

/** Polls for due work, one poll at a time, and sleeps in between until something wakes it. */
export class PollLoop {
  readonly #options: PollLoopOptions;
  #timer: Timer | undefined;
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  #closed = false;

  constructor(options: PollLoopOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  wake(): void {
    if (this.#closed) return;
    this.#pollAgain = true;
    this.#polling ??= this.#poll();
  }

  /** Begins no further poll, from now on; resolves when the one under way has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#polling;
  }

  async #poll(): Promise<void> {
    const { clock, maxSleepMs, poll, report } = this.#options;
    this.#timer?.cancel();
    let sleepMs = 0;
    while ((this.#pollAgain || sleepMs === 0) && !this.#closed) {
      this.#pollAgain = false;
      try {
        sleepMs = await poll();
      } catch (error) {
        report(error);
        sleepMs = SLEEP_AGAIN_MS;
      }
    }
    this.#polling = undefined;
    if (this.#closed) return;
    this.#timer = clock.setTimeout(() => this.wake(), Math.min(sleepMs, maxSleepMs));
  }
}
