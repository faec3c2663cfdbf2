import { readdir, readFile } from 'node:fs/promises';

/** A living process of this machine. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** Files of `/proc` that are open at once. */
const BATCH = 64;
/** Ended, but not yet collected by their parent: nothing runs there. */
const ENDED = /^[ZXx]$/;

/** Every process; none where the system has no `/proc`. */
export async function readProcessTable(): Promise<ProcessEntry[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const entries = await inBatches(pids, readEntry);
  return entries.flatMap((entry) => entry ?? []);
}

/** Finds the processes whose environment, as it was when their program began, holds one of the texts. */
export async function findByEnvironment(
  entries: readonly ProcessEntry[],
  texts: readonly string[],
): Promise<ProcessEntry[]> {
  const found = await inBatches(entries, async (entry) => {
    // Processes of other users may not be read; their ancestors still identify them.
    const environment = await readFile(`/proc/${entry.pid}/environ`).catch(() => undefined);
    return environment && texts.some((text) => environment.includes(text)) ? entry : undefined;
  });
  return found.flatMap((entry) => entry ?? []);
}

async function readEntry(pid: number): Promise<ProcessEntry | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name before it may hold anything, blanks and brackets too.
  const [state = '', ...ids] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 4);
  const [parent = 0, group = 0, session = 0] = ids.map(Number);
  return ENDED.test(state) ? undefined : { pid, parent, group, session };
}

async function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += BATCH)
    results.push(...(await Promise.all(items.slice(start, start + BATCH).map(work))));
  return results;
}
