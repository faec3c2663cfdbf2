import { GatewayError } from '../core/errors.ts';
import type { Protocol } from '../protocols/registry.ts';
import { askProvider, wasGivenUp } from '../inference/ask-provider.ts';
import type { ProviderAnswer } from '../inference/ask-provider.ts';
import type { Call, TaskTracker } from '../inference/types.ts';
import type { JobResult, JobRun } from '../jobs/jobs.ts';
import { buildUpstreamRequest } from '../providers/build-request.ts';
import type { Route } from '../routing/catalog.ts';
import type { Entry } from '../store/store.ts';
import type { UpstreamRequest } from '../upstream/transport.ts';
import { holderOf } from '../usage/principal.ts';
import { handOver } from '../usage/recovery/hand-over.ts';
import type {
  Looked,
  Lost,
  OpenTask,
  Question,
  TaskCharge,
  TaskDeps,
  TaskFamily,
  ToldTask,
} from './task-family.ts';
import { createTaskRows } from './task-rows.ts';
import type { TaskRecord, TaskRows } from './task-rows.ts';

/** Longer than any provider keeps a result. */
const TTL_MS = 60 * 24 * 3_600_000;
const TIMEOUT_MS = 60_000;
const LONGEST_PAUSE_MS = 60_000;
/** A task that its provider does not know for so long is lost, and was never just late. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;
/** No task runs longer. */
const GIVEN_UP_AFTER_MS = 7 * 24 * 3_600_000;

/** Makes a family of asynchronous work out of what sets it apart. */
export function defineTask<R extends TaskRecord, S extends object>(
  family: TaskFamily<R, S>,
): (deps: TaskDeps) => TaskService<R, S> {
  return (deps) => new TaskService(family, deps);
}

/** Tasks of one family after the calls that created them; the only state is the store. */
export class TaskService<R extends TaskRecord, S extends object> implements OpenTask {
  readonly rows: TaskRows<R>;
  readonly tracker: TaskTracker;
  readonly #family: TaskFamily<R, S>;
  readonly #deps: TaskDeps;

  constructor(family: TaskFamily<R, S>, deps: TaskDeps) {
    const { store, resultsKeptMs } = deps;
    this.#family = family;
    this.#deps = deps;
    this.rows = createTaskRows<R>({
      store,
      prefix: family.name,
      ownerOf: family.identity.ownerOf,
      keyOf: family.identity.keyOf,
      ttlOf: (record) => (family.isReserved(record) ? TTL_MS : (resultsKeptMs ?? TTL_MS)),
    });
    this.tracker = family.tracker(this, deps);
  }

  get protocol(): Protocol {
    return this.#family.protocol;
  }

  get job(): string {
    return this.#family.job;
  }

  /**
   * Stores the task with its job, in place of the call, which is no longer charged itself. Durable
   * when it resolves.
   *
   * @param delayMs milliseconds added to those before the first poll. Default 0
   */
  async add({ request }: Call, record: R, delayMs = 0): Promise<Entry<R>> {
    const { identity, job: kind, pollMs } = this.#family;
    const { store, jobs } = this.#deps;
    const put = this.rows.toPut(record);
    const id = identity.chargeIdOf(record);
    const holder = record.payer.organizationId;
    const job = { kind, id, payload: identity.toPayload(record), holder };
    const added = jobs.toAdd(job, { inMs: pollMs + delayMs });
    const result = await store.commit([put, handOver(request.id, id), ...added]);
    if (!result.ok) throw new Error(`the job of ${id} exists already`);
    return { key: put.key, value: record, version: result.version };
  }

  /** Keeps reserved what the call may cost. Rejects with `persistence_failed`. */
  hold({ request, model, origin, bound }: Call, record: R): Promise<void> {
    const id = this.#family.identity.chargeIdOf(record);
    const { principal, at } = request;
    return this.#deps.charges.hold({ id, principal, origin, at, model: model.id, bound });
  }

  /** Finds a task as it was last seen. Throws `not_found`. */
  async find(owner: string, id: string): Promise<Entry<R>> {
    const entry = await this.rows.find(owner, id);
    if (!entry) throw new GatewayError('not_found', { message: `${this.#family.name} not found` });
    return entry;
  }

  /** Finds a task as it is now, or as last seen when the provider does not answer. Throws `not_found`. */
  async look(owner: string, id: string): Promise<Entry<R>> {
    const entry = await this.find(owner, id);
    return (await orLater(this.lookUp(entry)))?.entry ?? entry;
  }

  /** Undefined for an id that is none of the family's own. Throws `not_found`. */
  async tell(organization: string, id: string): Promise<ToldTask | undefined> {
    const { name: type, tell } = this.#family;
    if (!tell || !id.startsWith(`${type}_`)) return undefined;
    const { value } = await this.find(organization, id);
    const { model, at } = value;
    return { id: value.id, type, model, at, ...tell(value) };
  }

  /**
   * Brings a task up to date: asks the account that has it, notes its answer, and settles the task when it has
   * ended. An end in the record is final, whatever a provider says later.
   *
   * @throws GatewayError `no_route_succeeded`, `upstream_timeout`, `invalid_upstream_response` or the family's
   * refusal when the provider does not answer now; `persistence_failed` and `StoreError` when an end cannot be
   * noted
   */
  async lookUp(entry: Entry<R>, question: Question = {}): Promise<Looked<R, S>> {
    const family = this.#family;
    const { value: record } = entry;
    if (family.endOf(record)) return { entry: await this.settle(entry), seen: undefined };
    const { clock } = this.#deps.inference;
    const age = clock.now() - record.at;
    const closes = family.identity.closedBy === 'look';
    if (closes && age > GIVEN_UP_AFTER_MS) return this.#takeIn(entry, 'timeout');
    const { route, request } = this.prepare(record, question);
    const answer = await this.#send(record, { route, request }, question.signal);
    const { status, body } = answer;
    if (status === 404 || status === 410) {
      const isLost = closes && age > FORGOTTEN_AFTER_MS;
      return isLost ? this.#takeIn(entry, 'not_found') : { entry, seen: 'not_found' };
    }
    if (status < 200 || status > 299) {
      const refusal = family.refusal?.(answer, route, clock.now());
      throw refusal ?? new GatewayError('no_route_succeeded');
    }
    const seen = family.read(record, body, question);
    if (!seen) throw new GatewayError('invalid_upstream_response');
    return this.#takeIn(entry, seen);
  }

  /**
   * Charges for a task that has ended, once over all processes, or releases its reservation. Does nothing while
   * it is pending. Rejects with `persistence_failed` or `StoreError`; to be repeated then.
   */
  async settle(entry: Entry<R>, seen?: S | Lost): Promise<Entry<R>> {
    const family = this.#family;
    const { value: record } = entry;
    const end = family.endOf(record, seen);
    if (!end) return entry;
    if (family.isReserved(record)) {
      if (end !== 'free') await this.#charge(record, end);
      else await this.#deps.charges.release(family.identity.chargeIdOf(record));
    }
    const changes = family.close(record, end, seen);
    return changes ? this.#change(entry, changes) : entry;
  }

  /** Route to the account that has the task, that of its own model first. */
  routeOf({ answeredBy, account }: R): Route | undefined {
    const { models } = this.#deps.catalog();
    const isOwner = (route: Route): boolean =>
      route.provider.id === account && route.protocols.has(this.#family.protocol);
    const own = models.get(answeredBy)?.routes.find(isOwner);
    if (own) return own;
    for (const { routes } of models.values()) {
      const found = routes.find(isOwner);
      if (found) return found;
    }
    return undefined;
  }

  /** Throws `no_route_succeeded` when no route leads to the provider any more. */
  prepare(record: R, { method = 'GET', below = [], query }: Question): Prepared {
    const { name, protocol, identity } = this.#family;
    const route = this.routeOf(record);
    if (!route) {
      const message = `the provider that has this ${name} is not available`;
      throw new GatewayError('no_route_succeeded', { message });
    }
    const request = buildUpstreamRequest({
      account: route.provider,
      protocol,
      upstreamModel: record.upstreamModel,
      method,
      below: [identity.upstreamIdOf(record), ...below],
      ...(query === undefined ? {} : { query }),
      body: undefined,
      stream: false,
    });
    return { route, request };
  }

  /** Throws `no_route_succeeded` or `upstream_timeout`. */
  async ask(record: R, question: Question): Promise<ProviderAnswer> {
    return this.#send(record, this.prepare(record, question), question.signal);
  }

  /**
   * Polls one task to its end without a client's request, less and less often: every minute in the end. Closes
   * one that its provider has lost, or has not ended within a week.
   */
  async poll({ job, signal }: JobRun): Promise<JobResult> {
    const { identity, isReserved, pollMs } = this.#family;
    const { owner, id } = identity.placeOf(job);
    const entry = await this.rows.find(owner, id);
    if (!entry || identity.chargeIdOf(entry.value) !== job.id) {
      // The row is gone, or another call has taken over that work, and pays for it.
      await this.#deps.charges.release(job.id);
      return 'done';
    }
    if (!isReserved(entry.value)) return 'done';
    const age = this.#deps.inference.clock.now() - entry.value.at;
    const looked = await orLater(this.lookUp(entry, { signal }));
    if (looked && !isReserved(looked.entry.value)) return 'done';
    const isLost = looked?.seen === 'not_found' && age > FORGOTTEN_AFTER_MS;
    if (isLost || age > GIVEN_UP_AFTER_MS) {
      await this.#takeIn(entry, isLost ? 'not_found' : 'timeout');
      return 'done';
    }
    return { againInMs: Math.min(Math.max(age / 4, pollMs), LONGEST_PAUSE_MS) };
  }

  async #send(
    { payer }: R,
    { route, request }: Prepared,
    signal: AbortSignal | undefined,
  ): Promise<ProviderAnswer> {
    const { transportFor, clock, maxAnswerBytes } = this.#deps.inference;
    try {
      return await askProvider(request, {
        transport: transportFor(route.provider, holderOf(payer)),
        clock,
        timeoutMs: TIMEOUT_MS,
        maxBytes: this.#family.maxAnswerBytes ?? maxAnswerBytes,
        signal,
      });
    } catch (cause) {
      const code = wasGivenUp(cause) ? 'upstream_timeout' : 'no_route_succeeded';
      throw new GatewayError(code, { cause });
    }
  }

  /** Notes the state that was seen, and settles the task if it has ended. */
  async #takeIn(entry: Entry<R>, seen: S | Lost): Promise<Looked<R, S>> {
    const now = this.#deps.inference.clock.now();
    const changes = this.#family.note?.(entry.value, seen, now);
    const noted = changes ? await this.#change(entry, changes) : entry;
    return { entry: await this.settle(noted, seen), seen };
  }

  /** The changed entry, or that of a faster process. */
  async #change(entry: Entry<R>, changes: Partial<R>): Promise<Entry<R>> {
    const changed = await this.rows.change(entry, changes);
    if (changed) return changed;
    const { payer, id } = entry.value;
    return (await this.rows.find(this.#family.identity.ownerOf(payer), id)) ?? entry;
  }

  #charge(record: R, { endedAt, ...end }: TaskCharge): Promise<void> {
    const { payer, origin, model, at, answeredBy, provider, upstreamModel } = record;
    const { charges, inference } = this.#deps;
    return charges.charge({
      id: this.#family.identity.chargeIdOf(record),
      principal: payer,
      surface: this.#family.protocol,
      model,
      origin,
      at,
      outcome: {
        status: 200,
        ...end,
        answeredBy: { model: answeredBy, provider, upstreamModel },
        attempts: [],
        losses: [],
        overheadUs: 0,
        firstContentMs: null,
        totalMs: Math.max(0, (endedAt ?? inference.clock.now()) - at),
      },
    });
  }
}

interface Prepared {
  readonly route: Route;
  readonly request: UpstreamRequest;
}

/** Undefined for a provider that cannot be asked now; what cannot be noted is an exception. */
async function orLater<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code !== 'persistence_failed') return undefined;
    throw thrown;
  }
}
