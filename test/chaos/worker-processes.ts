import { setTimeout as sleep } from 'node:timers/promises';
import { findByEnvironment, readProcessTable } from '../../src/runtime/reaper/process-table.ts';

const LOOK_MS = 50;
/** Beside the drain, for a machine that has much else to do. */
const GONE_WITHIN_MS = 30_000;

/** The workers of a gateway that live now; Node.js numbers them in their environment. */
export async function findWorkers(first: number): Promise<number[]> {
  const table = await readProcessTable();
  const own = table.filter(({ parent }) => parent === first);
  return (await findByEnvironment(own, ['NODE_UNIQUE_ID='])).map(({ pid }) => pid);
}

/** Those that are still there after a while. */
export async function waitUntilGone(pids: readonly number[]): Promise<number[]> {
  for (const end = Date.now() + GONE_WITHIN_MS; ; await sleep(LOOK_MS)) {
    const table = await readProcessTable();
    const left = pids.filter((pid) => table.some((entry) => entry.pid === pid));
    if (left.length === 0 || Date.now() > end) return left;
  }
}
