import type { Entry, Key, Op, Value, Version } from '../store/store.ts';
import type { Job } from './jobs.ts';

/** A job as it is stored. */
export interface JobRow {
  /** Time from which a process may take it, a deadline or an instant: while it runs, the end of the lease. */
  readonly at: number;
  readonly attempt: number;
  /**
   * Consecutive attempts that ended in an exception or a dead process; a running one counts as
   * such.
   */
  readonly failures: number;
  /** Owner of the attempt: another text for each; null while the job waits. */
  readonly owner: string | null;
  readonly payload: Value;
  /** See `Job`. */
  readonly holder?: string | undefined;
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

/** Prefix of the names of the jobs of a kind that fall due at `at` or later. */
export const dueFrom = (kind: string, at: number): Key => ['job-due', kind, at];

/** The same by holder, for jobs that have one: `job-held, kind, holder, at, id`. */
export const heldPrefix = (kind: string, holder?: string): Key =>
  holder === undefined ? ['job-held', kind] : ['job-held', kind, holder];

export const heldKey = (kind: string, { holder = '', at, id }: DueJob): Key => [
  ...heldPrefix(kind, holder),
  at,
  id,
];

/** A job by its position among those that fall due. */
export interface DueJob {
  readonly at: number;
  readonly id: string;
  readonly holder?: string | undefined;
}

export function fromDueEntry({ key, value }: Entry<string | null>): DueJob {
  return { at: Number(key[2]), id: String(key[3]), ...(value !== null && { holder: value }) };
}

export function fromHeldKey(key: Key): DueJob & { holder: string } {
  return { holder: String(key[2]), at: Number(key[3]), id: String(key[4]) };
}

function toDueOps(kind: string, due: DueJob): Op[] {
  const put: Op = { type: 'put', key: dueKey(kind, due.at, due.id), value: due.holder ?? null };
  return due.holder === undefined
    ? [put]
    : [put, { type: 'put', key: heldKey(kind, due), value: null }];
}

function toUndueOps(kind: string, due: DueJob): Op[] {
  const drop: Op = { type: 'delete', key: dueKey(kind, due.at, due.id) };
  return due.holder === undefined ? [drop] : [drop, { type: 'delete', key: heldKey(kind, due) }];
}

export function toNewRow({ payload, holder }: Job, at: number): JobRow {
  const row = { at, attempt: 0, failures: 0, owner: null, payload };
  return holder === undefined ? row : { holder, ...row };
}

/** A new job; conflicts with one of that name. */
export function toAddOps(kind: string, id: string, row: JobRow): Op[] {
  return [
    { type: 'put', key: jobKey(kind, id), value: row, ifAbsent: true },
    ...toDueOps(kind, { at: row.at, id, holder: row.holder }),
  ];
}

/** See `Jobs.toWake`: `entry` is the job as it was read just now. */
export function toWakeOps(job: Job, entry: Entry<JobRow> | undefined, now: number): Op[] {
  const { kind, id } = job;
  if (!entry) return toAddOps(kind, id, toNewRow(job, now));
  const { value: row, version } = entry;
  if (row.owner === null && row.at > now)
    return toChangeOps({ kind, id, row, version }, { ...row, at: now });
  return [{ type: 'check', key: jobKey(kind, id), ifVersion: version }];
}

/** Replaces the row that was seen, or drops it, with its index row. */
export function toChangeOps({ kind, id, row, version }: StoredJob, next: JobRow | undefined): Op[] {
  const key = jobKey(kind, id);
  const ops: Op[] = [
    next
      ? { type: 'put', key, value: next, ifVersion: version }
      : { type: 'delete', key, ifVersion: version },
  ];
  if (next?.at === row.at) return ops;
  ops.push(...toUndueOps(kind, { at: row.at, id, holder: row.holder }));
  if (next) ops.push(...toDueOps(kind, { at: next.at, id, holder: next.holder }));
  return ops;
}
