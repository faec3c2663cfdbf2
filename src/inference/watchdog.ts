import type { Clock, Timer } from '../core/clock.ts';
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
export interface Watchdog {
  /** Bytes arrived. */
  fed(bytes: number): void;
  /** Content reached the client's side: from now on only silence and the call's deadline count. */
  committed(): void;
  /** The client is slow: silence upstream is our own doing and does not count. */
  paused(on: boolean): void;
  stop(): void;
}

export function createWatchdog(options: WatchdogOptions): Watchdog {
  const { clock, timeouts, minThroughput, callDeadline, onLapse } = options;
  const startedAt = clock.monotonic();
  let lastFed = startedAt;
  let windowStart: number | undefined;
  let windowBytes = 0;
  let isCommitted = false;
  let isPaused = false;
  let timer: Timer | undefined;

  /** The lapses that can happen now, each with the instant at which it will have. */
  const pending = (): [Lapse, number][] => {
    const list: [Lapse, number][] = [['timeout_total', callDeadline]];
    if (!isCommitted) list.push(['timeout_first_content', startedAt + options.beforeCommitMs]);
    else if (!isPaused) list.push(['timeout_idle', lastFed + timeouts.idle]);
    return list;
  };

  const isTooSlow = (now: number): boolean => {
    if (!minThroughput || isCommitted || windowStart === undefined) return false;
    if (now - windowStart < minThroughput.over) return false;
    const slow = windowBytes * 1000 < minThroughput.bytesPerSecond * (now - windowStart);
    windowStart = now;
    windowBytes = 0;
    return slow;
  };

  const check = (): void => {
    const now = clock.monotonic();
    const lapsed = pending().find(([, at]) => at <= now);
    if (lapsed) return onLapse(lapsed[0]);
    if (isTooSlow(now)) return onLapse('min_throughput');
    arm(now);
  };

  const arm = (now: number): void => {
    let next = Math.min(...pending().map(([, at]) => at - now));
    if (minThroughput && !isCommitted) next = Math.min(next, minThroughput.over);
    timer = clock.setTimeout(check, Math.max(1, Math.ceil(next)));
  };

  const rearm = (): void => {
    timer?.cancel();
    arm(clock.monotonic());
  };

  arm(startedAt);
  return {
    fed(bytes) {
      lastFed = clock.monotonic();
      windowStart ??= lastFed;
      windowBytes += bytes;
    },
    committed() {
      isCommitted = true;
      lastFed = clock.monotonic();
      if (timeouts.idle < options.beforeCommitMs) rearm();
    },
    paused(on) {
      if (isPaused === on) return;
      isPaused = on;
      lastFed = clock.monotonic();
      // While paused the timer may have been set far ahead.
      if (!on) rearm();
    },
    stop: () => timer?.cancel(),
  };
}
