import { correctDeadline, isFromAhead } from '../core/time/deadline.ts';
import type { Key, Store } from '../store/store.ts';
import { dueFrom, duePrefix, fromDueEntry, jobKey, toChangeOps } from './job-rows.ts';
import type { DueJob, JobRow } from './job-rows.ts';

const PAGE = 500;
/** Jobs that show whether there is anything to correct. */
const SAMPLE = 64;

export interface CorrectOptions {
  readonly store: Pick<Store, 'list' | 'get' | 'commit'>;
  readonly kind: string;
  /** Milliseconds since epoch, by the wall clock. */
  readonly now: number;
}

/** True when one of the last jobs of a kind has a time that a clock ahead of `now` wrote. */
export async function isDueAhead({ store, kind, now }: CorrectOptions): Promise<boolean> {
  const options = { prefix: duePrefix(kind), limit: SAMPLE, reverse: true };
  const last = await store.list<string | null>(options);
  return last.map(fromDueEntry).some(({ at }) => isFromAhead(at, now));
}

/**
 * Gives jobs of a kind whose time was written by a clock ahead of `now` their length from then on. Jobs
 * that others change meanwhile stay as those leave them. Rejects with `StoreError`.
 */
export async function correctDue(options: CorrectOptions): Promise<void> {
  const { store, kind, now } = options;
  for (let after: Key = dueFrom(kind, now); ;) {
    const page = await store.list<string | null>({ prefix: duePrefix(kind), after, limit: PAGE });
    const jobs = page.map(fromDueEntry);
    await Promise.all(jobs.map((job) => correctOne(job, options)));
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.key;
  }
}

async function correctOne(due: DueJob, { store, kind, now }: CorrectOptions): Promise<void> {
  if (!isFromAhead(due.at, now)) return;
  const entry = await store.get<JobRow>(jobKey(kind, due.id));
  if (entry?.value.at !== due.at) return;
  const { value: row, version } = entry;
  const next = { ...row, at: correctDeadline(row.at, now) };
  await store.commit(toChangeOps({ kind, id: due.id, row, version }, next));
}
