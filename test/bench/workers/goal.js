// The figure that several workers are to reach; measures nothing itself, so that a test can prove it.

/** Most CPU per request of two workers, in that of one, where the provider takes 200 ms. */
const MOST = 1.1;

/**
 * Says what a request costs with two workers beside the goal.
 *
 * @param {number} ratio to the CPU per request of one worker
 */
export function judgeWorkers(ratio) {
  const verdict = ratio <= MOST ? 'reached' : 'missed';
  return `CPU per request, two workers to one: ${ratio.toFixed(2)}, goal at most ${MOST}: ${verdict}`;
}
