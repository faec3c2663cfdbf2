import type { Entry, Key, Op, Value, Version } from '../store/store.ts';

/** A job as it is stored. */
export interface JobRow {
  /** When somebody may take it, in ms since epoch: while it runs, the end of the lease. */
  readonly at: number;
  readonly attempt: number;
  /** Goes in a row that ended in an exception or a dead process; a running one counts as such. */
  readonly failures: number;
  /** Who runs it: another text for every go; null while it waits. */
  readonly owner: string | null;
  readonly payload: Value;
}

/** A row as it was last seen in the store. */
export interface StoredJob {
  readonly kind: string;
  readonly id: string;
  readonly row: JobRow;
  readonly version: Version;
}

export const jobKey = (kind: string, id: string): Key => ['job', kind, id];

/** Names of the jobs of a kind in the order in which they fall due: `job-due, kind, at, id`. */
export const duePrefix = (kind: string): Key => ['job-due', kind];

const dueKey = (kind: string, at: number, id: string): Key => ['job-due', kind, at, id];

export function fromDueKey(key: Key): { at: number; id: string } {
  return { at: Number(key[2]), id: String(key[3]) };
}

/** A new job; conflicts with one of that name. */
export function toAddOps(kind: string, id: string, row: JobRow): Op[] {
  return [
    { type: 'put', key: jobKey(kind, id), value: row, ifAbsent: true },
    { type: 'put', key: dueKey(kind, row.at, id), value: null },
  ];
}

/** See `Jobs.toWake`: `entry` is the job as it was read just now. */
export function toWakeOps(
  job: Pick<StoredJob, 'kind' | 'id'> & { payload: Value },
  entry: Entry<JobRow> | undefined,
  now: number,
): Op[] {
  const { kind, id, payload } = job;
  if (!entry) return toAddOps(kind, id, { at: now, attempt: 0, failures: 0, owner: null, payload });
  const { value: row, version } = entry;
  if (row.owner === null && row.at > now)
    return toChangeOps({ kind, id, row, version }, { ...row, at: now });
  return [{ type: 'check', key: jobKey(kind, id), ifVersion: version }];
}

/** Replaces the row that was seen, or drops it, its place among those that fall due with it. */
export function toChangeOps({ kind, id, row, version }: StoredJob, next: JobRow | undefined): Op[] {
  const key = jobKey(kind, id);
  const ops: Op[] = [
    next
      ? { type: 'put', key, value: next, ifVersion: version }
      : { type: 'delete', key, ifVersion: version },
  ];
  if (next?.at === row.at) return ops;
  ops.push({ type: 'delete', key: dueKey(kind, row.at, id) });
  if (next) ops.push({ type: 'put', key: dueKey(kind, next.at, id), value: null });
  return ops;
}
