import type { Key, Op } from '../store/store.ts';
import type { PayingKey } from '../usage/principal.ts';

/** Cause of a run of a Schedule. `scheduledAt` in ms since epoch. */
export type RunTrigger =
  | { readonly type: 'manual' }
  | { readonly type: 'schedule'; readonly scheduledAt: number };

/** Names as the official client knows them (requirement runs.field-values). */
export type RunErrorType =
  | 'agent_archived_error'
  | 'file_not_found_error'
  | 'organization_disabled_error'
  | 'session_creation_rejected_error'
  | 'session_rate_limited_error'
  | 'session_resource_not_found_error'
  | 'skill_not_found_error'
  | 'unknown_error';

export interface RunError {
  readonly type: RunErrorType;
  readonly message: string;
}

/** One run of a Schedule. Pending while `sessionId` and `error` are null; never changes afterwards. */
export interface RunRow {
  /** `drun_…` */
  readonly id: string;
  readonly organization: string;
  readonly deploymentId: string;
  /** Agent as bound when the run was triggered; null for a declarative Schedule. */
  readonly agent: { readonly id: string; readonly version: number } | null;
  readonly trigger: RunTrigger;
  /** Payer of its Session. */
  readonly payer: PayingKey;
  readonly sessionId: string | null;
  readonly error: RunError | null;
  /** ISO 8601. */
  readonly createdAt: string;
}

export type RunStatus = 'pending' | 'succeeded' | 'failed';

export function statusOf({ sessionId, error }: RunRow): RunStatus {
  if (sessionId !== null) return 'succeeded';
  return error === null ? 'pending' : 'failed';
}

/** Ids sort by time. */
export const RUNS: Key = ['schedule-run'];
export const runKey = (id: string): Key => [...RUNS, id];

/** Holds the id of the run; there is one at most for an instant of a Schedule, and it lives as long. */
export const slotKey = (deployment: string, instant: number): Key => [
  'schedule-slot',
  deployment,
  instant,
];

/** Facts by which a list of runs can be narrowed down without looking at each. */
export type RunIndex = 'all' | 'deployment';

/** Ids of runs in the order in which they were made. */
export const runIndexPrefix = (organization: string, index: RunIndex, value: string): Key => [
  'schedule-run-by',
  organization,
  index,
  value,
];

/** The keys under which lists find a run; none of them ever changes. */
export function runIndexKeys({ id, organization, deploymentId }: RunRow): Key[] {
  const prefixes = [
    runIndexPrefix(organization, 'all', ''),
    runIndexPrefix(organization, 'deployment', deploymentId),
  ];
  return prefixes.map((prefix) => [...prefix, id]);
}

export function runIndexOps(run: RunRow): Op[] {
  return runIndexKeys(run).map((key) => ({ type: 'put', key, value: null }));
}

/** Shows a run in the API: no `status` (requirement runs.fields). */
export function toRunView(row: RunRow): Record<string, unknown> {
  const { id, deploymentId, agent, trigger, sessionId, error, createdAt } = row;
  return {
    id,
    type: 'deployment_run',
    deployment_id: deploymentId,
    agent: agent && { type: 'agent', ...agent },
    trigger_context:
      trigger.type === 'manual'
        ? { type: 'manual' }
        : { type: 'schedule', scheduled_at: new Date(trigger.scheduledAt).toISOString() },
    session_id: sessionId,
    error,
    created_at: createdAt,
  };
}
