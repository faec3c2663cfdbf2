import type { Clock, Timer } from '../core/time/clock.ts';
import type { MinThroughput, Timeouts } from '../routing/catalog.ts';

export type Lapse = 'timeout_first_content' | 'timeout_idle' | 'timeout_total' | 'min_throughput';

export interface WatchdogOptions {
  clock: Clock;
  timeouts: Timeouts;
  /** Milliseconds from sending to commit: `firstContent` or `wholeAnswer`. */
  beforeCommitMs: number;
  /** Clock.monotonic() at which the whole call must be over. */
  callDeadline: number;
  minThroughput: MinThroughput | undefined;
  onLapse(lapse: Lapse): void;
}

/** Watches one attempt with a single timer: chunks only note a number, they never touch a timer. */
export class Watchdog {
  private readonly options: WatchdogOptions;
  private startedAt: number;
  private lastFed: number;
  private windowStart: number | undefined;
  private windowBytes = 0;
  private isAnswering = false;
  private isPaused = false;
  private isWaiting = false;
  private timer: Timer | undefined;

  constructor(options: WatchdogOptions) {
    this.options = options;
    this.startedAt = options.clock.monotonic();
    this.lastFed = this.startedAt;
    this.arm(this.startedAt);
  }

  /** The request waits for a connection, for as long as a first content may take. */
  waiting(): void {
    this.isWaiting = true;
    this.rearm();
  }

  /** It has one: from now on its provider gets its whole time. */
  placed(): void {
    this.isWaiting = false;
    this.startedAt = this.options.clock.monotonic();
    this.rearm();
  }

  /** Bytes arrived. */
  fed(bytes: number): void {
    this.lastFed = this.options.clock.monotonic();
    this.windowStart ??= this.lastFed;
    this.windowBytes += bytes;
  }

  /**
   * The provider is at its answer: content came, or it has opened reasoning that it does not show. From
   * now on only silence and the call's deadline count.
   */
  answering(): void {
    if (this.isAnswering) return;
    const { clock, timeouts, beforeCommitMs } = this.options;
    this.isAnswering = true;
    this.lastFed = clock.monotonic();
    if (timeouts.idle < beforeCommitMs) this.rearm();
  }

  /**
   * The client is slow: silence upstream is our own doing and does not count. One that takes nothing for
   * as long as a whole call may last is not waited for any longer.
   */
  paused(on: boolean): void {
    if (this.isPaused === on) return;
    this.isPaused = on;
    this.lastFed = this.options.clock.monotonic();
    // The timer may have been set far ahead during a pause.
    if (!on) this.rearm();
  }

  stop(): void {
    this.timer?.cancel();
  }

  private readonly check = (): void => {
    const now = this.options.clock.monotonic();
    const { callDeadline, onLapse } = this.options;
    if (callDeadline <= now) onLapse('timeout_total');
    else if (this.quietUntil() <= now) {
      onLapse(this.isAnswering ? 'timeout_idle' : 'timeout_first_content');
    } else if (this.isTooSlow(now)) onLapse('min_throughput');
    else this.arm(now);
  };

  /** The instant at which the attempt will have been without content, or silent, for too long. */
  private quietUntil(): number {
    const { timeouts, beforeCommitMs } = this.options;
    if (this.isWaiting) return this.startedAt + Math.min(timeouts.firstContent, beforeCommitMs);
    if (!this.isAnswering) return this.startedAt + beforeCommitMs;
    return this.lastFed + (this.isPaused ? timeouts.total : timeouts.idle);
  }

  private isTooSlow(now: number): boolean {
    const { minThroughput: rule } = this.options;
    if (!rule || this.isAnswering || this.windowStart === undefined) return false;
    const span = now - this.windowStart;
    if (span < rule.over) return false;
    const slow = this.windowBytes * 1000 < rule.bytesPerSecond * span;
    this.windowStart = now;
    this.windowBytes = 0;
    return slow;
  }

  private arm(now: number): void {
    const { callDeadline, minThroughput, clock } = this.options;
    let next = Math.min(callDeadline, this.quietUntil()) - now;
    if (minThroughput && !this.isAnswering) next = Math.min(next, minThroughput.over);
    this.timer = clock.setTimeout(this.check, Math.max(1, Math.ceil(next)));
  }

  private rearm(): void {
    this.timer?.cancel();
    this.arm(this.options.clock.monotonic());
  }
}
