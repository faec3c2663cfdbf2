import { readFile } from 'node:fs/promises';

/**
 * Running children of a process, in order of their ids. Asks the system for them only: to read the list of all
 * processes again and again keeps a machine busy.
 */
export async function childrenOf(parent: number | undefined): Promise<number[]> {
  const place = `/proc/${parent}/task/${parent}/children`;
  const pids = (await readFile(place, 'utf8').catch(() => '')).split(' ').filter(Boolean);
  const isAlive = await Promise.all(pids.map(Number).map(isRunning));
  return pids
    .filter((_, index) => isAlive[index])
    .map(Number)
    .sort((a, b) => a - b);
}

/** False for one that has ended, even if its parent has not asked how. */
export async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
  // After the name in parentheses.
  return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}
