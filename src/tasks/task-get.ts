import { GatewayError } from '../core/errors.ts';
import { toNanos } from '../core/money.ts';
import type { Store } from '../store/store.ts';
import { findCharge, isHeld } from '../usage/spend/find-charge.ts';
import { getRequest } from '../usage/requests/request-log.ts';
import type { RequestRecord, UsageRecord } from '../usage/requests/request-record.ts';
import { readKey } from '../surfaces/carriers.ts';
import { admit } from '../surfaces/gate.ts';
import type { GateDeps } from '../surfaces/gate.ts';
import type { Handler } from '../surfaces/http-exchange.ts';
import { knownCost, toShownCost } from '../usage/usage.ts';
import { tellTask } from './open-tasks.ts';
import type { OpenTasks } from './open-tasks.ts';
import { isOver } from './runs/run-record.ts';
import type { RunRecord } from './runs/run-record.ts';
import type { RunService } from './runs/run-service.ts';
import { TASKS_PATH } from './task-paths.ts';
import type { Settlement, TaskStatus, ToldTask } from './task-family.ts';

/** Run, task of a family or prediction, as its payer sees it (decisions: Task lookups). */
export interface TaskView {
  readonly id: string;
  readonly object: 'task';
  /** `run`, `video`, `prediction` … */
  readonly type: string;
  readonly model: string;
  readonly status: TaskStatus;
  readonly settlement: Settlement;
  readonly usage: UsageRecord | null;
  /** Decimal string of `currency`, without the reservation; null: unknown. */
  readonly cost: string | null;
  readonly currency: 'USD';
  readonly created_at: string;
}

export interface TaskGetDeps extends GateDeps {
  readonly store: Store;
  readonly runs: Pick<RunService, 'find'>;
  readonly tasks: OpenTasks;
}

/** `GET /v1/tasks/{id}`, for keys with the scope `account` (requirement tasks.lookup). */
export function createTaskGet(deps: TaskGetDeps): Handler {
  return async ({ request, search, path }) => {
    const key = readKey(['bearer'], request.headers, search);
    const { principal, leave } = await admit(key, { scope: 'account', use: 'read' }, deps);
    try {
      const id = path.slice(TASKS_PATH.length + 1);
      return { status: 200, body: await taskOf(principal.organizationId, id, deps) };
    } finally {
      leave();
    }
  };
}

async function taskOf(organization: string, id: string, deps: TaskGetDeps): Promise<TaskView> {
  try {
    if (id.startsWith('run_')) return ofRun(await deps.runs.find(organization, id));
    const told = await tellTask(deps.tasks, organization, id);
    if (told) return await ofTold(told, deps);
    const found = await getRequest(deps, id);
    if (found?.organization === organization) return await ofPrediction(found, deps);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.code !== 'not_found') throw thrown;
  }
  throw new GatewayError('not_found', { message: 'task not found' });
}

function ofRun(record: RunRecord): TaskView {
  const { id, model, status, at, usage, cost } = record;
  const settlement = isOver(record) ? settlementOf(cost, status === 'succeeded') : 'reserved';
  return toView({ id, type: 'run', model, status, settlement, usage, cost, at });
}

async function ofTold(told: ToldTask, deps: TaskGetDeps): Promise<TaskView> {
  const { usage, cost } = (await findCharge(deps, told.id)) ?? { usage: null, cost: 0 };
  return toView({ ...told, usage, cost });
}

/** Work that continues after its call (an Interaction) is charged for under the id of the call. */
async function ofPrediction(record: RequestRecord, deps: TaskGetDeps): Promise<TaskView> {
  const { id, model, result } = record;
  const at = Date.parse(record.created_at);
  const isOpen = result === 'pending' || (await isHeld(deps, id));
  const charge = isOpen ? undefined : await findCharge(deps, id);
  const usage = charge?.usage ?? record.usage;
  const parts = [record.cost === null ? null : toNanos(record.cost), charge ? charge.cost : 0];
  const sum = parts.reduce<number>((all, part) => all + (part ?? 0), 0);
  const cost = knownCost({ cost: sum, unpriced: parts.includes(null) });
  const settlement = isOpen ? 'reserved' : settlementOf(cost, result === 'ok');
  const status = PREDICTION_STATUSES[result];
  return toView({ id, type: 'prediction', model, status, settlement, usage, cost, at });
}

const PREDICTION_STATUSES = {
  pending: 'running',
  ok: 'succeeded',
  error: 'failed',
  interrupted: 'failed',
  aborted: 'cancelled',
} as const satisfies Record<RequestRecord['result'], TaskStatus>;

/** Failed work may have cost something all the same. */
function settlementOf(cost: number | null, isSuccess: boolean): Settlement {
  return isSuccess || cost !== 0 ? 'settled' : 'released';
}

interface TaskFacts extends Omit<TaskView, 'object' | 'cost' | 'currency' | 'created_at'> {
  /** Nano-dollars; null: unknown. */
  readonly cost: number | null;
  readonly at: number;
}

function toView({ cost, at, ...facts }: TaskFacts): TaskView {
  const { id, type, model, status, settlement, usage } = facts;
  return {
    id,
    object: 'task',
    type,
    model,
    status,
    settlement,
    usage,
    cost: toShownCost(cost),
    currency: 'USD',
    created_at: new Date(at).toISOString(),
  };
}
