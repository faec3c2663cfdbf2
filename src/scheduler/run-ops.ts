import type { Job } from '../jobs/jobs.ts';
import { pendingRunKey } from '../resources/store/due-index.ts';
import type { Op, Version } from '../store/store.ts';
import { runIndexOps, runKey } from './run-row.ts';
import { TRIGGER_JOB } from './job-kinds.ts';
import type { RunRow } from './run-row.ts';

/** Has the run decided. */
export const triggerJob = ({ id, organization }: RunRow): Job => ({
  kind: TRIGGER_JOB,
  id,
  payload: null,
  holder: organization,
});

/** Makes a pending run; {@link triggerJob} belongs to it. */
export function beginOps(run: RunRow): Op[] {
  return [
    { type: 'put', key: runKey(run.id), value: run, ifAbsent: true },
    { type: 'put', key: pendingRunKey(run.deploymentId, run.id), value: null },
    ...runIndexOps(run),
  ];
}

/** @param decided the run that was seen pending at `version`, with its outcome */
export function decideOps(decided: RunRow, version: Version): Op[] {
  return [
    { type: 'put', key: runKey(decided.id), value: decided, ifVersion: version },
    { type: 'delete', key: pendingRunKey(decided.deploymentId, decided.id) },
  ];
}
