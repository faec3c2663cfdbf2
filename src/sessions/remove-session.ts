import type { Job, JobHandler } from '../jobs/jobs.ts';
import type { Op } from '../store/store.ts';
import type { SendDeps, Whose } from './log/send-events.ts';
import { noSession } from './log/session-log.ts';
import type { SessionLog } from './log/session-log.ts';
import { PURGE_JOB } from './log/job-kinds.ts';
import type { SessionCommit } from './session-row.ts';
import { agentKey, eventIdPrefix, eventPrefix, indexKeys } from './session-row.ts';

/** Followers read the last event within this time. */
const PURGE_AFTER_MS = 60_000;
const PURGE_BATCH = 400;
const PURGE_BYTES = 1024 * 1024;

const purgeJob = (id: string, organization: string): Job => ({
  kind: PURGE_JOB,
  id,
  payload: null,
  holder: organization,
});

/** See `Sessions.remove`. Its events go later, so that those who follow see the end. */
export async function removeSession(
  { log, jobs }: SendDeps,
  { organization, id }: Whose,
  commit?: SessionCommit,
): Promise<void> {
  const events = log.identify([{ type: 'session.deleted' }]);
  const removed = await log.change(id, (row) => {
    if (row?.organization !== organization) throw noSession();
    const ops: Op[] = [
      { type: 'delete', key: agentKey(id) },
      ...indexKeys(row).map((key): Op => ({ type: 'delete', key })),
      ...jobs.toAdd(purgeJob(id, organization), { inMs: PURGE_AFTER_MS }),
    ];
    return { row, events, ops, commit, isEnd: true };
  });
  if (!removed) throw noSession();
}

export function createPurgeJob({ store }: SessionLog): JobHandler {
  return async ({ job: { id }, signal }) => {
    for (const prefix of [eventPrefix(id), eventIdPrefix(id)]) {
      for (;;) {
        signal.throwIfAborted();
        const rows = await store.list({ prefix, limit: PURGE_BATCH, maxBytes: PURGE_BYTES });
        if (rows.length === 0) break;
        await store.commit(rows.map(({ key }): Op => ({ type: 'delete', key })));
      }
    }
    return 'done';
  };
}
