import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, isRunning } from '../support/process/children-of.ts';

const LOOK_MS = 50;
/** Beside the drain, for a machine that has much else to do. */
const GONE_WITHIN_MS = 30_000;

/** The workers of a gateway that live now; Node.js numbers them in their environment. */
export async function findWorkers(first: number): Promise<number[]> {
  const children = await childrenOf(first);
  const environments = await Promise.all(
    children.map((pid) => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')),
  );
  return children.filter((_, index) => environments[index]?.includes('NODE_UNIQUE_ID='));
}

/** Those that are still there after a while. */
export async function waitUntilGone(pids: readonly number[]): Promise<number[]> {
  for (const end = Date.now() + GONE_WITHIN_MS; ; await sleep(LOOK_MS)) {
    const areRunning = await Promise.all(pids.map(isRunning));
    const left = pids.filter((_, index) => areRunning[index]);
    if (left.length === 0 || Date.now() > end) return left;
  }
}
