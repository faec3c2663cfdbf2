import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { H3 } from 'h3';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { IdSource } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import { lazy } from '../../core/lazy.ts';
import type { ByteBudget } from '../../core/memory/byte-budget.ts';
import type { KeyHasher } from '../../core/seal.ts';
import { createSpools } from '../../core/memory/spool.ts';
import { createJobs } from '../../jobs/create-jobs.ts';
import type { Liveness } from '../../core/liveness.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { loadProtocols } from '../../protocols/load-protocols.ts';
import type { Repository } from '../../resources/store/repository.ts';
import { TRIGGER_JOB } from '../../scheduler/job-kinds.ts';
import { TURN_JOB } from '../../sessions/log/job-kinds.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { openTasks } from '../../tasks/open-tasks.ts';
import type { RequestSignals } from '../../usage/requests/live/request-signals.ts';
import { RUN_JOB } from '../../tasks/runs/run-record.ts';
import { WEBHOOK_JOB } from '../../webhooks/delivery.ts';
import { openBodyMemory } from '../bodies/open-body-memory.ts';
import { countStoreWork } from './count-store-work.ts';
import type { StoreWork } from './count-store-work.ts';
import { createConsoleFront } from '../console/console-front.ts';
import type { Front } from '../console/console-front.ts';
import { isConsoleServed } from '../console/is-console-served.ts';
import { createKeyTickets } from '../console/key-tickets.ts';
import type { ConsoleDeps } from '../console/open-console.ts';
import { openSso } from '../sso/open-sso.ts';
import { endedWithMapping } from '../sso/roles.ts';
import { createCors } from '../http/cors.ts';
import { healthRoutes } from '../routes/health-routes.ts';
import type { Condition } from '../routes/health-routes.ts';
import { namedCalls } from '../idempotency/named-calls.ts';
import { withIdempotency } from '../idempotency/with-idempotency.ts';
import { createCallWorkers } from '../idempotency/workers.ts';
import type { CallWorkers } from '../idempotency/workers.ts';
import { createFollowers } from './followers.ts';
import type { GatewayOptions } from './gateway-options.ts';
import { jobHandlers } from './job-handlers.ts';
import { createKeyLookup, createValueLookup } from './key-lookup.ts';
import { LateAlerts } from './late-alerts.ts';
import { openAgents } from './open-agents.ts';
import { openApiRoutes } from '../openapi/openapi-route.ts';
import { openAssets } from './open-assets.ts';
import { openInference } from './open-inference.ts';
import { openListing } from './open-listing.ts';
import { managementRoutes } from './open-management.ts';
import { openResources } from './open-resources.ts';
import type { LiveResources } from './open-resources.ts';
import { openRuns } from './open-runs.ts';
import { openSchedules } from './open-schedules.ts';
import { aloneMark, openUsage } from './open-usage.ts';
import type { LiveUsage } from './open-usage.ts';
import { publicRoutes } from '../routes/public-routes.ts';
import { reasonOf } from '../../core/errors.ts';
import { reportStore, tellFailure } from './report-store.ts';
import { noteRefused } from '../http/note-refused.ts';
import type { Refusals } from '../../usage/requests/refusals.ts';
import { createRequestGuard } from '../http/request-guard.ts';
import { withTokens } from '../jwt/with-tokens.ts';
import { createEntrance } from '../http/entrance.ts';
import type { Entrance } from '../http/entrance.ts';
import { createApp } from '../http/routes.ts';
import type { RouteSpec, RoutesOptions } from '../http/routes.ts';

/** Turns wait for models and tools most of the time. */
const TURNS_AT_ONCE = 256;
/** Many Schedules are due in the same minute; their writes share commits of the store. */
const TRIGGERS_AT_ONCE = 256;
/** Runs wait for models, and webhooks for their receivers. */
const RUNS_AT_ONCE = 256;
const WEBHOOKS_AT_ONCE = 64;

/** Everything that serves requests, on one store. */
export interface Gateway {
  readonly app: H3;
  /** Answers before the application. */
  readonly entrance: Entrance;
  /** Takes the requests for the console; undefined where it is not served. */
  readonly console: Front | undefined;
  readonly store: Store;
  readonly repository: Repository;
  readonly hasher: KeyHasher;
  readonly ids: IdSource;
  /** Part of the readiness report. */
  readonly condition: { draining: boolean; reloadError: string | null };
  /** Runs the work and applies its changes for calls in one step. Rejects as the work does. */
  changeAtOnce<T>(change: () => Promise<T>): Promise<T>;
  /** Ends streams without an end of their own, later ones too; clients reconnect elsewhere. */
  endFollowing(): void;
  /** Ends open streams in their own protocol. */
  endStreams(): void;
  /** Begins no further background work; resolves when none is under way, or after so many ms. */
  finishWork(ms: number): Promise<void>;
  /** Aborts the background work; other processes, or the next start, continue it. */
  leaveWork(): void;
  /** Settles open calls and releases the store. Idempotent. */
  close(): Promise<void>;
}

/** The composition root: makes and joins all parts. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { clock, config, openStore: open = openStore } = options;
  const { store, work } = countStoreWork(
    reportStore(await open(config.store, { clock }), options.log),
  );
  try {
    return await compose(store, { ...options, work });
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function compose(
  raw: Store,
  options: GatewayOptions & { work(): StoreWork },
): Promise<Gateway> {
  const { clock } = options;
  const resources = await openResources(raw, options);
  const signals: RequestSignals = { listener: undefined };
  const usage = await openUsage(raw, { ...options, signals });
  const { store, liveness } = usage;
  const condition = { draining: false, reloadError: null as string | null };
  const shared = await sharedParts(store, options, { resources, usage, signals });
  const onBug = reportTo(options.log);
  const alerts = new LateAlerts();
  const heard = { ...usage, hasher: resources.hasher, alerts, onBug };
  const inference = await openInference(store, { ...options, ...shared, ...heard });
  const jobs = openJobs(store, options, liveness);
  await alerts.open({ ...options, store, repository: resources.repository, jobs });
  const bodies = await openQueues(options, { ledger: usage.ledger, jobs });
  const assets = await openAssets(store, { ...options, ...shared, ...inference.deps, resources });
  const deps = { ...inference.deps, media: assets.media };
  const base = { ...shared, inference: deps, charges: inference.charges, jobs };
  const serving = { ...base, transportToApi: inference.transportToApi, tasks: openTasks(base) };
  const agents = openAgents({ ...options, ...serving, resources, alerts, onBug });
  const schedules = openSchedules({ ...options, ...serving, alerts, agents: agents.agents });
  const runs = openRuns({ ...options, ...serving, resources });
  const listing = await openListing(store, { ...options, ...deps, jobs, ...resources });
  const known = { health: deps.health, active: deps.active, protocols: shared.spoken.clients };
  const told = (): Condition => ({ ...condition, configuration: shared.catalog().fingerprint });
  const routes = [
    ...healthRoutes({ store, clock, condition: told }),
    ...publicRoutes(serving),
    ...[assets, agents, schedules, runs].flatMap((part) => part.routes),
    ...managementRoutes({ ...options, ...shared, ...known, hasher: resources.hasher }),
  ];
  const serve = [schedules.firing, jobs, schedules, runs, agents, assets, listing, alerts];
  let closing: Promise<void> | undefined;
  const own = { handlers: await jobHandlers({ ...options, ...serving }) };
  const workers = createCallWorkers({ ...usage, liveness });
  if (options.takesWork !== false) {
    const parts = [own, listing, agents, schedules, runs, alerts];
    jobs.start(new Map(parts.flatMap((part) => [...part.handlers])));
    schedules.firing.start();
  }
  return {
    ...openApp(routes, { store, shared, bodies, options, workers, refusals: inference.refusals }),
    store,
    repository: resources.repository,
    hasher: resources.hasher,
    ids: options.ids,
    condition,
    changeAtOnce: resources.changeAtOnce,
    endFollowing: shared.followers.end,
    endStreams() {
      shared.followers.end();
      inference.endStreams();
    },
    ...backgroundWork(jobs, schedules.firing),
    close: () => (closing ??= closeInOrder([...serve, resources, usage, inference, store])),
  };
}

/** Opens the memory of request bodies, and shows what waits here and elsewhere. */
async function openQueues(
  options: GatewayOptions & { work(): StoreWork },
  parts: Pick<Parameters<typeof queues>[0], 'ledger' | 'jobs'>,
): Promise<ByteBudget> {
  if (options.config.metrics.listen) {
    const { registerQueues } = await import('../process/metrics.ts');
    await registerQueues(() => queues({ ...parts, work: options.work() }));
  }
  return openBodyMemory({ ...options, heapLimit: getHeapStatistics().heap_size_limit });
}

/** Lengths of the queues in this process, by name; the names are a fixed few. */
function queues({
  work,
  ledger,
  jobs,
}: {
  work: StoreWork;
  ledger: LiveUsage['ledger'];
  jobs: Jobs;
}): ReadonlyMap<string, number> {
  return new Map([
    ['store_reads', work.reads],
    ['store_writes', work.writes],
    ['ledger', ledger.waiting()],
    ...jobs.waiting(),
  ]);
}

function backgroundWork(
  jobs: Jobs,
  firing: { close(): Promise<void> },
): Pick<Gateway, 'finishWork' | 'leaveWork'> {
  return {
    async finishWork(ms) {
      await firing.close();
      await jobs.drain(ms);
    },
    leaveWork: () => void jobs.close(),
  };
}

interface AppParts {
  readonly store: Store;
  readonly shared: Awaited<ReturnType<typeof sharedParts>>;
  readonly bodies: ByteBudget;
  readonly options: GatewayOptions;
  readonly workers: CallWorkers;
  readonly refusals: Pick<Refusals, 'note' | 'has'>;
}

/** The guarded routes, and the document that describes them. */
function openApp(
  routes: readonly RouteSpec[],
  parts: AppParts,
): Pick<Gateway, 'app' | 'entrance' | 'console'> {
  const { shared, bodies, options } = parts;
  const { definitions } = shared.repository;
  const { publicUrl } = shared;
  const report = (error: unknown) => tellFailure(options.log, 'an answer was not kept', { error });
  const described = [...routes, ...openApiRoutes({ definitions, routes, publicUrl })];
  const served = {
    ...options,
    bodies,
    routes: withIdempotency(described, {
      ...shared,
      ...namedCalls({ ...options, ...parts, report }),
    }),
    ...protections(options.config),
    onBug: reportTo(options.log),
    onRefused: noteRefused(parts.refusals),
  };
  return {
    app: createApp(served),
    entrance: createEntrance(served),
    console: openFront({ ...shared, ...served }, options.config),
  };
}

function openFront(deps: ConsoleDeps, config: ServerConfig): Front | undefined {
  if (!isConsoleServed(config)) return undefined;
  const load = lazy('the console', async () => {
    const { openConsole } = await import('../console/open-console.ts');
    return openConsole(deps);
  });
  return createConsoleFront(load);
}

/** Parts that nearly everything that is served needs. */
async function sharedParts(
  store: Store,
  options: GatewayOptions & { work(): StoreWork },
  {
    resources,
    usage,
    signals,
  }: { resources: LiveResources; usage: LiveUsage; signals: RequestSignals },
) {
  const { clock, config, ids, log, ssoSettings: settings, proxies } = options;
  const tickets = createKeyTickets();
  const known = { ...resources, clock, log, proxies };
  const lookup = withTokens(createKeyLookup({ ...known, tickets }), { ...known, ...config.jwt });
  return {
    store,
    repository: resources.repository,
    spoken: await loadProtocols(),
    usage: config.usage,
    publicUrl: config.publicUrl ?? undefined,
    resourceXApiKey: config.compat.resourceXApiKey,
    readsEveryCarrier: config.compat.modelLists,
    catchUp: resources.catchUp,
    tickets,
    followers: createFollowers(),
    signals,
    alone: () => aloneMark(usage, options.work()),
    fold: () => usage.ledger.fold(),
    onFollowError: (error: unknown) =>
      tellFailure(log, 'requests could not be followed', { error }),
    requestTimeoutMs: config.limits.requestTimeoutMs,
    lookup: endedWithMapping(lookup, settings),
    sso: settings && openSso({ ...resources, settings, config, proxies, clock }),
    valueOf: createValueLookup({ ...resources, tickets }),
    rates: usage.rates,
    concurrency: usage.concurrency,
    maxBodyBytes: config.limits.bodyBytes,
    bodyValues: config.limits.bodyValues,
    resourceValues: config.limits.resourceValues,
    spools: createSpools(join(config.dataDir, 'spool'), ids),
    interactionWaitMs: config.limits.interactionWaitMs,
    resultsKeptMs: config.retention.results,
    catalog: () => resources.catalog.current(),
  };
}

/** All of them, although one fails: an open store would keep the process alive. */
async function closeInOrder(parts: readonly { close(): Promise<void> | void }[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of parts) {
    try {
      await part.close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

function openJobs(
  store: Store,
  { clock, ids, log }: GatewayOptions,
  liveness: Liveness | undefined,
): Jobs {
  return createJobs({
    store,
    clock,
    worker: ids.next('worker'),
    liveness,
    rooms: new Map([
      [TURN_JOB, TURNS_AT_ONCE],
      [TRIGGER_JOB, TRIGGERS_AT_ONCE],
      [RUN_JOB, RUNS_AT_ONCE],
      [WEBHOOK_JOB, WEBHOOKS_AT_ONCE],
    ]),
    report: (error, job) =>
      tellFailure(log, 'a job failed', { error, kind: job?.kind, job: job?.id }),
  });
}

function protections({
  listen,
  publicUrl,
  allowedHosts,
  cors,
  limits,
}: ServerConfig): Pick<RoutesOptions, 'guard' | 'cors'> {
  return {
    guard: createRequestGuard({
      listenHost: listen.host,
      allowedHosts,
      publicHost: publicUrl === null ? undefined : new URL(publicUrl).hostname,
      origins: cors.origins,
      urlBytes: limits.urlBytes,
    }),
    cors: createCors(cors.origins),
  };
}

function reportTo(log: Log): RoutesOptions['onBug'] {
  return (thrown, requestId) =>
    log.error('internal error', {
      request_id: requestId,
      reason: reasonOf(thrown),
      stack: thrown instanceof Error ? thrown.stack : undefined,
    });
}
