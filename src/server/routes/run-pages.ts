import { GatewayError } from '../../core/errors.ts';
import { toRunView } from '../../scheduler/run-row.ts';
import type { RunStatus } from '../../scheduler/run-row.ts';
import type { RunFilter, RunStore } from '../../scheduler/runs.ts';
import {
  boundsOf,
  choiceOf,
  cursorsOf,
  isWithin,
  limitOf,
  valuesOf,
} from '../../sessions/page-query.ts';

const MAX_RUNS = 100;
/** Run after which the list continues. */
const PLACE = /^drun_\w{1,100}$/;
const STATUSES: readonly RunStatus[] = ['pending', 'succeeded', 'failed'];

export interface RunPageRequest {
  readonly organization: string;
  readonly query: URLSearchParams;
  /** Schedule whose runs are listed, whatever other one the query names. */
  readonly deploymentId?: string | undefined;
}

/**
 * A page of runs, newest first: `trigger_type`, `status`, `has_error`, `agent_id`, `deployment_id` (also
 * `agent_ids`, `deployment_ids`, repeated, bracketed or with commas), `created_at[gt|gte|lt|lte]`, `limit`
 * (default 20, capped at 100) and `page` (requirement runs.list.filters).
 *
 * @throws GatewayError `invalid_request` for a value that a parameter does not have
 */
export async function runsPage(
  runs: RunStore,
  { organization, query, deploymentId }: RunPageRequest,
): Promise<object> {
  const filter = readFilter(query, deploymentId);
  const bounds = boundsOf(query);
  const limit = limitOf(query, MAX_RUNS);
  const cursors = cursorsOf(['runs', organization, filter, bounds], PLACE);
  // One more than asked for shows whether there is a next page.
  const found = await runs.list(organization, {
    ...filter,
    created: (at) => isWithin(bounds, at),
    after: cursors.read(query),
    limit: limit + 1,
  });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    data: page.map(toRunView),
    next_page: found.length > limit && last ? cursors.write(last.id) : null,
  };
}

function readFilter(query: URLSearchParams, deploymentId: string | undefined): RunFilter {
  const hasError = choiceOf(query, 'has_error', ['true', 'false']);
  return {
    triggerType: choiceOf(query, 'trigger_type', ['manual', 'schedule']),
    statuses: statusesOf(query),
    hasError: hasError === undefined ? undefined : hasError === 'true',
    agentIds: idsOf(query, 'agent_id'),
    deploymentIds: deploymentId === undefined ? idsOf(query, 'deployment_id') : [deploymentId],
  };
}

function statusesOf(query: URLSearchParams): RunStatus[] | undefined {
  const given = [...(valuesOf(query, 'status') ?? []), ...(valuesOf(query, 'statuses') ?? [])];
  const strange = given.find((status) => !STATUSES.some((known) => known === status));
  if (strange !== undefined) {
    const message = `status: expected some of ${STATUSES.join(', ')}`;
    throw new GatewayError('invalid_request', { message, param: 'status' });
  }
  const known = STATUSES.filter((status) => given.includes(status));
  return known.length === 0 ? undefined : known;
}

/** Ids in the parameter and in its plural. */
function idsOf(query: URLSearchParams, name: string): string[] | undefined {
  const ids = [...(valuesOf(query, name) ?? []), ...(valuesOf(query, `${name}s`) ?? [])];
  return ids.length === 0 ? undefined : [...new Set(ids)].sort();
}
