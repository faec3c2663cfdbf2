import { percentile } from '../load.js';

/** What others may wait beside any input or answer, in milliseconds from when they were due. */
export const LONGEST_MS = 250;
export const P99_MS = 50;

/**
 * Judges the waits beside one input.
 *
 * @param {{ failures: number, latencies: readonly number[] }} probes milliseconds of each probe, in any order
 */
export function judgeWaits({ failures, latencies }) {
  const [longest, p99] = [percentile(latencies, 1), percentile(latencies, 0.99)];
  return { longest, p99, holds: longest <= LONGEST_MS && p99 <= P99_MS && failures === 0 };
}

/**
 * Says of each input beside which others waited too long, that they did.
 *
 * @param {Record<string, { longest: number, p99: number, holds: boolean }>} waits by the name of the input
 * @returns {string[]} empty where all hold
 */
export function faultsOfWaits(waits) {
  const late = Object.entries(waits).filter(([, { holds }]) => !holds);
  return late.map(
    ([name, { longest, p99 }]) =>
      `${name}: others wait up to ${Math.round(longest)} ms (p99 ${Math.round(p99)} ms), ${LONGEST_MS} ms (${P99_MS} ms) are allowed`,
  );
}
