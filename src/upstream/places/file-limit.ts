import { readFile } from 'node:fs/promises';

/** Connections of a provider that sets none, where more files may be open. */
const MOST_CONNECTIONS = 4096;
/** Limit where the system reports none. */
const ASSUMED_FILES = 1024;
/** One to the provider, and one from the client that waits for it. */
export const FILES_PER_CALL = 2;

export interface FileLimitSources {
  /** Text of `/proc/<process>/limits`; rejects where there is none. */
  readLimits(process: number | 'self'): Promise<string>;
  /** The diagnostic report of this process, which has its limits on every system. */
  readReport(): object;
}

export const nodeFileLimits: FileLimitSources = {
  readLimits: (process) => readFile(`/proc/${process}/limits`, 'utf8'),
  readReport: () => process.report.getReport(),
};

/** Files that a process may have open at once, `Infinity` for any number; undefined when unknown. */
export async function readFileLimit(
  { readLimits, readReport }: FileLimitSources,
  process: number | 'self' = 'self',
): Promise<number | undefined> {
  const text = await readLimits(process).catch(() => undefined);
  const soft = text && /^Max open files\s+(\d+|unlimited)\s/m.exec(text)?.[1];
  if (soft) return toLimit(soft);
  return process === 'self' ? toLimit(softOf(readReport())) : undefined;
}

/** Half of the files that may be open, 4,096 at most: the other half is for clients. */
export function usualConnections(files = ASSUMED_FILES): number {
  return Math.max(1, Math.min(MOST_CONNECTIONS, Math.floor(files / FILES_PER_CALL)));
}

function softOf(report: object): unknown {
  const { userLimits } = report as { userLimits?: { open_files?: { soft?: unknown } } };
  return userLimits?.open_files?.soft;
}

function toLimit(soft: unknown): number | undefined {
  if (soft === 'unlimited') return Infinity;
  const limit = typeof soft === 'string' || typeof soft === 'number' ? Number(soft) : NaN;
  return limit > 0 ? limit : undefined;
}
