import type { H3 } from 'h3';
import type { ServerConfig } from '../config/server-config.ts';
import type { Clock } from '../core/clock.ts';
import type { IdSource } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import { createKeyHasher, createSealer } from '../core/seal.ts';
import type { KeyHasher } from '../core/seal.ts';
import { createChangeFeed } from '../resources/change-feed.ts';
import { createKeyDirectory } from '../resources/key-directory.ts';
import { bindResources } from '../resources/registry.ts';
import { Repository } from '../resources/repository.ts';
import { createHealth } from '../routing/health.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { createConcurrencyLimiter } from '../usage/concurrency-limiter.ts';
import { createLedger } from '../usage/ledger-store.ts';
import { createRateLimiter } from '../usage/rate-limiter.ts';
import { createWorkerLease } from '../usage/worker-lease.ts';
import { adminRoutes } from './admin-routes.ts';
import { checkMasterKey } from './check-master-key.ts';
import { createCors } from './cors.ts';
import { healthRoutes } from './health-routes.ts';
import type { Condition } from './health-routes.ts';
import { createRequestGuard } from './request-guard.ts';
import { createLiveCatalog } from './live-catalog.ts';
import { logRequests } from './log-requests.ts';
import { publicRoutes } from './public-routes.ts';
import { startRecovery } from './recovery.ts';
import { createApp } from './routes.ts';
import { createTransports } from './transports.ts';

export interface GatewayOptions {
  config: ServerConfig;
  /** True when the operator set `timeouts.first_content`. */
  firstContentSet: boolean;
  masterKeys: readonly Uint8Array[];
  clock: Clock;
  ids: IdSource;
  log: Log;
  random(): number;
}

/** Everything that serves requests, on one store. */
export interface Gateway {
  readonly app: H3;
  readonly store: Store;
  readonly repository: Repository;
  readonly hasher: KeyHasher;
  /** Part of what readiness tells. */
  readonly condition: { draining: boolean; reloadError: string | null };
  /** Sees every change of resources that was committed before. */
  refresh(): Promise<void>;
  /** Ends open streams in their own protocol. */
  endStreams(): void;
  /** Settles what is open and lets go of the store. */
  close(): Promise<void>;
}

/** The composition root: the only place where the parts are made and joined. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { clock, config } = options;
  const store = await openStore(config.store, { clock });
  try {
    return await compose(store, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function compose(store: Store, options: GatewayOptions): Promise<Gateway> {
  const { config, clock, ids, log, masterKeys } = options;
  const sealer = createSealer(masterKeys);
  await checkMasterKey(store, sealer);
  const hasher = createKeyHasher(masterKeys);
  const repository = new Repository({
    store,
    clock,
    ids,
    sealer,
    definitions: bindResources(hasher),
  });
  const keys = createKeyDirectory({ repository, hasher, clock });
  const catalog = createLiveCatalog({
    repository,
    defaults: config.timeouts,
    firstContentSet: options.firstContentSet,
    onBadProvider: (name, error) =>
      log.error('provider left out', { provider: name, reason: messageOf(error) }),
  });
  const refresh = async (): Promise<void> => {
    await Promise.all([keys.reload(), catalog.reload()]);
  };
  const feed = createChangeFeed({
    store,
    clock,
    onError: (error) => log.error('changes could not be read', { reason: messageOf(error) }),
  });
  feed.subscribe(refresh);
  await refresh();

  const worker = ids.next('worker');
  const lease = createWorkerLease({ store, clock, worker });
  await lease.start();
  const recovery = startRecovery({ store, clock, log });
  const ledger = createLedger({
    store,
    clock,
    worker,
    mode: config.ledger,
    logContent: config.log.content,
    report: (error) => log.error('the ledger cannot write', { reason: messageOf(error) }),
  });
  const transports = createTransports(clock);
  const active = new Set<{ shutDown(): void }>();
  const condition = { draining: false, reloadError: null as string | null };
  const gate = {
    lookup: (key: string) => keys.lookup(key),
    rates: createRateLimiter({ store, clock, platformCap: () => config.limits.rpm }),
    concurrency: createConcurrencyLimiter({ store, clock, worker, alive: () => lease.alive() }),
  };
  const inference = {
    clock,
    health: createHealth({ clock }),
    transportFor: transports.transportFor,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    ledger: logRequests(ledger, log),
    random: options.random,
    outputBound: config.limits.outputTokensBound,
    active,
  };
  const shared = {
    ...gate,
    maxBodyBytes: config.limits.bodyBytes,
    catalog: () => catalog.current(),
  };
  const told = (): Condition => ({ ...condition, configuration: catalog.current().fingerprint });
  const app = createApp({
    clock,
    ids,
    routes: [
      ...healthRoutes(store, told),
      ...publicRoutes({ ...shared, inference }),
      ...adminRoutes({ ...shared, repository, store }),
    ],
    guard: createRequestGuard({
      listenHost: config.listen.host,
      allowedHosts: config.allowedHosts,
      origins: config.cors.origins,
      urlBytes: config.limits.urlBytes,
    }),
    cors: createCors(config.cors.origins),
    onBug: (thrown, request) =>
      log.error('internal error', {
        request_id: request,
        reason: messageOf(thrown),
        stack: stackOf(thrown),
      }),
  });

  return {
    app,
    store,
    repository,
    hasher,
    condition,
    refresh,
    endStreams() {
      for (const exchange of active) exchange.shutDown();
    },
    async close() {
      feed.close();
      recovery.stop();
      await ledger.drain();
      await transports.close();
      await lease.release();
      await store.close();
    },
  };
}

/** An answer that is not a stream is held whole; larger ones are refused as invalid. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
