import { GatewayError } from '../core/errors.ts';
import { fromNanos, toNanos } from '../core/money.ts';
import type { Store } from '../store/store.ts';
import { findCharge, isHeld } from '../usage/spend/find-charge.ts';
import { getRequest } from '../usage/requests/request-log.ts';
import type { RequestRecord, UsageRecord } from '../usage/requests/request-record.ts';
import { readKey } from '../surfaces/carriers.ts';
import { admit } from '../surfaces/gate.ts';
import type { GateDeps } from '../surfaces/gate.ts';
import type { Handler } from '../surfaces/http-exchange.ts';
import { isOver } from './runs/run-record.ts';
import type { RunRecord, RunStatus } from './runs/run-record.ts';
import type { RunDesk } from './runs/run-desk.ts';
import type { VideoDesk } from './videos/video-desk.ts';
import type { VideoRecord } from './videos/video-records.ts';

export const TASKS_PATH = '/v1/tasks';

/** What became of the money of a task: still held, charged, or given back. */
export type Settlement = 'reserved' | 'settled' | 'released';

/** A run, a video task or a prediction, as far as its payer is concerned (decisions: Task lookups). */
export interface TaskView {
  readonly id: string;
  readonly object: 'task';
  readonly type: 'run' | 'video' | 'prediction';
  readonly model: string;
  readonly status: RunStatus;
  readonly settlement: Settlement;
  readonly usage: UsageRecord | null;
  /** Decimal string of `currency`; what is held is not in it. */
  readonly cost: string;
  readonly currency: 'USD';
  readonly created_at: string;
}

export interface TaskDeps extends GateDeps {
  readonly store: Store;
  readonly runs: Pick<RunDesk, 'find'>;
  readonly videos: Pick<VideoDesk, 'find'>;
}

/** `GET /v1/tasks/{id}`, for keys with the scope `account` (requirement tasks.lookup). */
export function createTaskGet(deps: TaskDeps): Handler {
  return async ({ request, search, path }) => {
    const key = readKey(['bearer'], request.headers, search);
    const { principal, leave } = await admit(key, 'account', deps);
    try {
      const id = path.slice(TASKS_PATH.length + 1);
      return { status: 200, body: await taskOf(principal.organizationId, id, deps) };
    } finally {
      leave();
    }
  };
}

async function taskOf(organization: string, id: string, deps: TaskDeps): Promise<TaskView> {
  try {
    if (id.startsWith('run_')) return ofRun(await deps.runs.find(organization, id));
    if (id.startsWith('video_'))
      return await ofVideo(await deps.videos.find(organization, id), deps);
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

async function ofVideo(record: VideoRecord, deps: TaskDeps): Promise<TaskView> {
  const { id, model, at, video, settlement } = record;
  const charge = await findCharge(deps, id);
  const status = VIDEO_STATUSES[video.state];
  const { usage = null, cost = 0 } = charge ?? {};
  return toView({ id, type: 'video', model, status, settlement, usage, cost, at });
}

const VIDEO_STATUSES = {
  queued: 'queued',
  in_progress: 'running',
  completed: 'succeeded',
  failed: 'failed',
} as const satisfies Record<VideoRecord['video']['state'], RunStatus>;

/** What goes on behind its call (an Interaction) is charged for under the id of the call. */
async function ofPrediction(record: RequestRecord, deps: TaskDeps): Promise<TaskView> {
  const { id, model, result } = record;
  const at = Date.parse(record.created_at);
  const isOpen = result === 'pending' || (await isHeld(deps, id));
  const charge = isOpen ? undefined : await findCharge(deps, id);
  const usage = charge?.usage ?? record.usage;
  const cost = toNanos(record.cost) + (charge?.cost ?? 0);
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
} as const satisfies Record<RequestRecord['result'], RunStatus>;

/** What failed may have cost something all the same. */
function settlementOf(cost: number, isSuccess: boolean): Settlement {
  return isSuccess || cost > 0 ? 'settled' : 'released';
}

interface TaskFacts extends Omit<TaskView, 'object' | 'cost' | 'currency' | 'created_at'> {
  readonly cost: number;
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
    cost: fromNanos(cost),
    currency: 'USD',
    created_at: new Date(at).toISOString(),
  };
}
