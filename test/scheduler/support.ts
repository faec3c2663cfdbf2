import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/core/time/clock.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { createKeyHasher, createSealer } from '../../src/core/seal.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import type { Stored } from '../../src/resources/store/stored.ts';
import { deployment } from '../../src/resources/kinds/deployment.ts';
import { DUE_PREFIX } from '../../src/resources/store/due-index.ts';
import { bindResources } from '../../src/resources/registry.ts';
import { Repository } from '../../src/resources/store/repository.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import type { SchedulerOptions } from '../../src/scheduler/create-scheduler.ts';
import { TRIGGER_JOB } from '../../src/scheduler/job-kinds.ts';
import { createSessions } from '../../src/sessions/create-sessions.ts';
import type { TurnRunner } from '../../src/sessions/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { makeResources, MASTER_KEY } from '../resources/make-resources.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { FakeClock } from '../support/fake-clock.ts';

export const say = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });

/** A turn is over before it has begun. */
const silent: TurnRunner = {
  async run(log) {
    if (log.session.status !== 'running') return;
    const stop_reason = { type: 'end_turn' };
    const idle = { type: 'session.status_idle' as const, stop_reason, stop_details: null };
    await log.append([idle], { status: 'idle', handled: log.session.head });
  },
};

/** Resources of a store, as every process of the gateway sees them. */
export function openRepository(store: Store, clock: Clock): Repository {
  const operator = { harnesses: new Set<string>(), mcpServers: new Set<string>() };
  const hasher = createKeyHasher([MASTER_KEY]);
  return new Repository({
    store,
    clock,
    ids: createIdSource(clock),
    sealer: createSealer([MASTER_KEY]),
    definitions: bindResources({ hasher, clock, operator, webhooks: [] }),
  });
}

export interface ProcessOptions extends Partial<
  Pick<SchedulerOptions, 'admit' | 'announce' | 'random'>
> {
  readonly store: Store;
  readonly clock: Clock;
  readonly repository: Repository;
  readonly runner?: TurnRunner;
  readonly worker?: string;
}

/** One process that fires Schedules; `start` begins. */
export function createProcess(options: ProcessOptions) {
  const { store, clock, repository, worker = 'a', runner = silent } = options;
  const ids = createIdSource(clock);
  const jobs = createJobs({ store, clock, worker, concurrency: 64 });
  const { sessions, handlers } = createSessions({ store, clock, ids, jobs, runner });
  const warnings: Record<string, unknown>[] = [];
  const { scheduler, handlers: own } = createScheduler({
    store,
    clock,
    ids,
    jobs,
    repository,
    sessions,
    random: options.random ?? Math.random,
    log: { warn: (message, fields) => void warnings.push({ message, ...fields }) },
    admit: options.admit ?? (async () => ({ leave: () => undefined })),
    announce: options.announce ?? (() => []),
  });
  return {
    scheduler,
    sessions,
    jobs,
    warnings,
    /** One go at the job of a run. */
    decide: own.get(TRIGGER_JOB) ?? (() => Promise.reject(new Error('no handler'))),
    start() {
      jobs.start(new Map([...handlers, ...own]));
      scheduler.start();
    },
    async close() {
      await scheduler.close();
      await jobs.close();
    },
  };
}

/** An organization with an Agent, on a store in memory, with one process that fires on a clock of its own. */
export async function createRig(options: Partial<ProcessOptions> & { startAt?: string } = {}) {
  const clock = createFakeClock(Date.parse(options.startAt ?? '2026-11-21T00:00:00Z'));
  const resources = makeResources({ clock });
  const { store, repository } = resources;
  const { body: home } = await resources.call('POST organizations', { body: { name: 'home' } });
  const organization = String(home['id']);
  const call = async (request: string, body?: unknown) => {
    const reply = await resources.call(request, { body, organization, platform: false });
    if (reply.status >= 400) throw new Error(`${request}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const agent = String((await call('POST agents', { name: 'Coder', model: 'acme/fast' }))['id']);
  const process = createProcess({ store, clock, repository, ...options });
  onTestFinished(() => process.close());
  const { runs } = process.scheduler;
  return {
    ...process,
    resources,
    clock,
    store,
    repository,
    organization,
    agent,
    /** Of every Session of {@link make}. */
    firstEvent: say('Go.'),
    call,
    /** A Schedule that fires by this expression, or by hand alone. */
    async make(expression?: string, body: Record<string, unknown> = {}): Promise<string> {
      const { timezone = 'UTC', ...rest } = body;
      const schedule = expression === undefined ? null : { type: 'cron', expression, timezone };
      const members = { name: 'report', agent_id: agent, initial_events: [say('Go.')], schedule };
      return String((await call('POST deployments', { ...members, ...rest }))['id']);
    },
    stored: (id: string): Promise<Stored> => repository.get(deployment, id, { organization }),
    /** Of one Schedule, oldest first. */
    runsOf: (id: string) =>
      runs.list(organization, { deploymentIds: [id], limit: 10_000, order: 'asc' }),
    /** The instants at which it was fired, oldest first. */
    async firedAt(id: string): Promise<string[]> {
      const found = await runs.list(organization, {
        deploymentIds: [id],
        limit: 10_000,
        order: 'asc',
      });
      return found.flatMap(({ trigger }) =>
        trigger.type === 'schedule' ? [new Date(trigger.scheduledAt).toISOString()] : [],
      );
    },
    sessionsOf: (id: string) =>
      process.sessions.list(organization, { deploymentId: id, limit: 1_000, order: 'asc' }),
    /** Lets time pass from one thing that is due to the next. */
    async pass(ms: number): Promise<void> {
      const end = clock.monotonic() + ms;
      await quiet(store, clock);
      while (clock.monotonic() < end) {
        const left = end - clock.monotonic();
        clock.advance(Math.min(left, Math.max(1, Math.ceil(await nextDue(store)) - clock.now())));
        await quiet(store, clock);
      }
    },
    /** Time passes and nobody notices until it has. */
    async sleep(ms: number): Promise<void> {
      await quiet(store, clock);
      clock.advance(ms);
      await quiet(store, clock);
    },
    /** The wall clock is set to another time. */
    async step(ms: number): Promise<void> {
      await quiet(store, clock);
      clock.step(ms);
      clock.advance(60_000);
      await quiet(store, clock);
    },
    trigger: (deploymentId: string) =>
      process.scheduler.trigger({
        organization,
        deploymentId,
        payer: { keyId: 'key_1', keyName: 'first', organizationId: organization },
      }),
  };
}

export type Rig = Awaited<ReturnType<typeof createRig>>;

/** Resolves when nothing is due or under way any more. */
export async function quiet(store: Store, clock: FakeClock): Promise<void> {
  for (let calm = 0; calm < 3;) {
    await new Promise((resolve) => setImmediate(resolve));
    calm = (await isBusy(store, clock.now())) ? 0 : calm + 1;
  }
}

/** When the next Schedule or job is due, in ms since epoch. */
async function nextDue(store: Store): Promise<number> {
  const [schedule] = await store.list({ prefix: DUE_PREFIX, limit: 1 });
  const jobs = await store.list<{ at: number }>({ prefix: ['job'] });
  return Math.min(Number(schedule?.key[1] ?? Infinity), ...jobs.map(({ value }) => value.at));
}

async function isBusy(store: Store, now: number): Promise<boolean> {
  const [due] = await store.list({ prefix: DUE_PREFIX, limit: 1 });
  if (due && Number(due.key[1]) <= now) return true;
  const jobs = await store.list<{ at: number; owner: string | null }>({ prefix: ['job'] });
  return jobs.some(({ value: { at, owner } }) => owner !== null || at <= now);
}
