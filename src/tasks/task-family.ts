import type { Buffer } from 'node:buffer';
import type { Protocol } from '../protocols/registry.ts';
import type { GatewayError } from '../core/errors.ts';
import type { ProviderAnswer } from '../inference/ask-provider.ts';
import type { InferenceDeps } from '../inference/run-inference.ts';
import type { Call, TaskTracker } from '../inference/types.ts';
import type { JobResult, JobRun, Jobs } from '../jobs/jobs.ts';
import type { Catalog, Route } from '../routing/catalog.ts';
import type { Entry, Store } from '../store/store.ts';
import type { Charges } from '../usage/spend/charges.ts';
import type { RequestOutcome } from '../usage/ledger/ledger.ts';
import type { Identity } from './identity.ts';
import type { TaskRecord, TaskRows } from './task-rows.ts';

/** Cost of a task that has ended. */
export interface TaskCharge extends Pick<
  RequestOutcome,
  'result' | 'errorCode' | 'usage' | 'estimated' | 'cost' | 'unpriced'
> {
  /** Milliseconds since epoch. Default: now. */
  readonly endedAt?: number;
}

/** `free`: nothing is recorded, and the reservation is released. */
export type TaskEnd = TaskCharge | 'free';

/** Reason for which a task without an end is closed: its provider does not know it, or a week has passed. */
export type Lost = 'not_found' | 'timeout';

/** State of the money of a task: still held, charged, or given back. */
export type Settlement = 'reserved' | 'settled' | 'released';

export type TaskStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** Task as `GET /v1/tasks/{id}` returns it, but for its cost. */
export interface ToldTask {
  readonly id: string;
  /** Name of the family. */
  readonly type: string;
  readonly model: string;
  readonly at: number;
  readonly status: TaskStatus;
  readonly settlement: Settlement;
}

/** Request about a task, to the provider that has it. */
export interface Question {
  /** Default `GET`. */
  readonly method?: 'GET' | 'DELETE';
  /** Segments below the task. Default: the task itself. */
  readonly below?: readonly string[];
  readonly query?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Everything that sets one family of asynchronous work apart. Its records, polling, settlement and
 * look-up are those of every family.
 *
 * @typeParam R a row of the store
 * @typeParam S what a provider's answer says about a task
 */
export interface TaskFamily<R extends TaskRecord, S extends object> {
  /** `video` …: first part of the keys of its rows and of own ids; names the task in errors. */
  readonly name: string;
  /** Kind of the durable job that sees a task to its end. */
  readonly job: string;
  /** Protocol of the provider; charges are recorded under this name. */
  readonly protocol: Protocol;
  readonly identity: Identity<R>;
  /** Milliseconds before the first poll, and at least between two. */
  readonly pollMs: number;
  /** Default: config limits.answer_bytes. */
  readonly maxAnswerBytes?: number;
  /** Makes the part that sees the calls which create tasks. */
  readonly tracker: (tasks: TrackedTasks<R, S>, deps: TaskDeps) => TaskTracker;
  /** True until the task is charged for or given back. */
  isReserved(record: R): boolean;
  /** Undefined when the answer cannot be understood. */
  read(record: R, body: Buffer, question: Question): S | undefined;
  /** Changes that are noted before anything is charged; undefined: none. Default: none. */
  note?(record: R, seen: S | Lost, now: number): Partial<R> | undefined;
  /** Undefined while pending; `seen` is absent where only the record counts. */
  endOf(record: R, seen?: S | Lost): TaskEnd | undefined;
  /** Changes once an end is paid for; undefined: none. */
  close(record: R, end: TaskEnd, seen?: S | Lost): Partial<R> | undefined;
  /** Error for an answer that is neither 2xx, 404 nor 410. Default `no_route_succeeded`. */
  refusal?(answer: ProviderAnswer, route: Route, now: number): GatewayError;
  /** Absent: `GET /v1/tasks/{id}` knows the calls of the family only. */
  tell?(record: R): Pick<ToldTask, 'status' | 'settlement'>;
}

export interface TaskDeps {
  readonly store: Store;
  readonly jobs: Jobs;
  readonly charges: Charges;
  readonly inference: Pick<
    InferenceDeps,
    'clock' | 'transportFor' | 'maxAnswerBytes' | 'active' | 'affinity'
  >;
  catalog(): Catalog;
  /** Milliseconds that a settled task is kept; null: 60 days. */
  readonly resultsKeptMs: number | null;
  /** Milliseconds that a call which is not meant for the background waits for its task. */
  readonly interactionWaitMs: number;
}

/** Task after a look at its provider. */
export interface Looked<R, S> {
  readonly entry: Entry<R>;
  /** Answer of the provider, or why there is none; undefined when it was not asked. */
  readonly seen: S | Lost | undefined;
}

/** Operations of a family that its tracker uses; see `TaskService`. */
export interface TrackedTasks<R extends TaskRecord, S extends object> {
  readonly rows: TaskRows<R>;
  add(call: Call, record: R, delayMs?: number): Promise<Entry<R>>;
  hold(call: Call, record: R): Promise<void>;
  settle(entry: Entry<R>, seen?: S | Lost): Promise<Entry<R>>;
  lookUp(entry: Entry<R>, question?: Question): Promise<Looked<R, S>>;
}

/** Family at work, for those who serve every family alike. */
export interface OpenTask {
  readonly protocol: Protocol;
  readonly job: string;
  readonly tracker: TaskTracker;
  /** Does one of the family's jobs. */
  poll(run: JobRun): Promise<JobResult>;
  /** Undefined for an id that is none of the family's own. Throws `not_found`. */
  tell(organization: string, id: string): Promise<ToldTask | undefined>;
}
