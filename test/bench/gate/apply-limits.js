import { percentile } from '../load.js';

/** Seconds on two cores of its own: an apply of 1,000 new objects, and a first start with 2,000. */
export const APPLY_SECONDS = 5;
export const FIRST_START_SECONDS = 3;
/** What chat calls may take during an apply, times what they take without one; for p99 or as many ms more. */
const P50_TIMES = 1.3;
const P99_TIMES = 1.5;
const P99_MORE_MS = 15;

/**
 * Judges chat calls during an apply by those of the same run without one.
 *
 * @param {{ latencies: readonly number[] }} idle milliseconds
 * @param {{ failures: number, latencies: readonly number[] }} busy milliseconds
 */
export function judgeChat(idle, busy) {
  const [p50, p99] = [0.5, 0.99].map((share) => ({
    idle: percentile(idle.latencies, share),
    busy: percentile(busy.latencies, share),
  }));
  const most = Math.max(P99_TIMES * p99.idle, p99.idle + P99_MORE_MS);
  const holds = p50.busy <= P50_TIMES * p50.idle && p99.busy <= most && busy.failures === 0;
  return { p50Times: p50.busy / p50.idle, holds };
}
