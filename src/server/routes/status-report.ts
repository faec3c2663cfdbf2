import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { RuntimeRecord } from '../../core/process/runtime-file.ts';
import type { Clock } from '../../core/time/clock.ts';
import { duePrefix } from '../../jobs/job-rows.ts';
import type { Catalog, Model, Route } from '../../routing/catalog.ts';
import { unpricedRoutes } from '../../routing/unpriced-routes.ts';
import { TRIGGER_JOB } from '../../scheduler/job-kinds.ts';
import { TURN_JOB } from '../../sessions/log/job-kinds.ts';
import type { Health } from '../../routing/health.ts';
import type { Store } from '../../store/store.ts';
import { RUN_JOB } from '../../tasks/runs/run-record.ts';
import { LEASES } from '../../usage/ledger/ledger-keys.ts';
import { WEBHOOK_JOB } from '../../webhooks/delivery.ts';
import { VERSION } from '../process/gateway-version.ts';

export interface StatusDeps {
  readonly store: Store;
  readonly clock: Clock;
  catalog(): Catalog;
  readonly health: Pick<Health, 'look'>;
  readonly config: Pick<ServerConfig, 'dataDir'>;
  /** Finds what this process, or the one that started it, has written down in a folder. */
  ownRecord(dataDir: string): RuntimeRecord | undefined;
}

/** Kinds of jobs that are work of people, by the word of the report. */
const WORK = {
  turns: TURN_JOB,
  triggers: TRIGGER_JOB,
  runs: RUN_JOB,
  webhooks: WEBHOOK_JOB,
} as const;

/** Health of one route, as this process sees it. */
export interface RouteStatus {
  readonly model: string;
  readonly upstream_model: string;
  readonly state: 'available' | 'cooled' | 'probing';
  /** RFC 3339; null unless it is cooled. */
  readonly until: string | null;
  readonly consecutive_faults: number;
  /** Smoothed time to the first content in ms; null where none came lately. */
  readonly latency_ms: number | null;
}

/** State of the gateway for its operators. */
export interface StatusView {
  readonly type: 'status';
  readonly version: string;
  readonly node: string;
  /** Changes with the served configuration. */
  readonly configuration: string;
  /** Files that this gateway reads again at a reload; null where the environment is its configuration. */
  readonly follows: { readonly files: readonly string[]; readonly watch: boolean } | null;
  readonly store: {
    readonly driver: string;
    readonly scope: Store['scope'];
    readonly state: 'ok' | 'failing';
    readonly warnings: readonly string[];
  };
  /** Processes that share the store. */
  readonly workers: readonly { readonly id: string; readonly since: string }[];
  /** Routes, {@link MAX_ROUTES} at most, those that are not available first. */
  readonly providers: readonly { readonly name: string; readonly routes: readonly RouteStatus[] }[];
  /** Jobs in the store that are begun or wait, counted up to {@link MAX_WORK}. */
  readonly work: Readonly<Record<keyof typeof WORK, number>>;
  /** Routes and APIs without a known price, at most {@link MAX_ROUTES}. */
  readonly unpriced: readonly string[];
}

const MAX_ROUTES = 500;
const MAX_WORKERS = 1_000;
const MAX_WORK = 1_000;

/** Rejects with `StoreError` only where reading fails. */
export async function reportStatus(deps: StatusDeps): Promise<StatusView> {
  const { store, catalog } = deps;
  const leases = await store.list<{ since: number }>({ prefix: LEASES, limit: MAX_WORKERS });
  const isFine = await store.ping().then(
    () => true,
    () => false,
  );
  return {
    type: 'status',
    version: VERSION,
    node: process.version,
    configuration: catalog().fingerprint,
    follows: followedBy(deps),
    store: {
      driver: store.driver,
      scope: store.scope,
      state: isFine ? 'ok' : 'failing',
      warnings: store.warnings ?? [],
    },
    workers: leases.map(({ key, value }) => ({
      id: String(key[1]),
      since: new Date(value.since).toISOString(),
    })),
    providers: providersOf(deps),
    work: await countWork(store),
    unpriced: unpricedRoutes(catalog()).slice(0, MAX_ROUTES),
  };
}

function followedBy({ config, ownRecord }: StatusDeps): StatusView['follows'] {
  const { files = [], watch = false } = ownRecord(config.dataDir) ?? {};
  return files.length === 0 ? null : { files, watch };
}

async function countWork(store: Store): Promise<StatusView['work']> {
  const names = Object.keys(WORK) as (keyof typeof WORK)[];
  const counts = await Promise.all(
    names.map(async (name) => {
      const found = await store.list({ prefix: duePrefix(WORK[name]), limit: MAX_WORK });
      return [name, found.length] as const;
    }),
  );
  return Object.fromEntries(counts) as StatusView['work'];
}

function providersOf({ catalog, health }: StatusDeps): StatusView['providers'] {
  const routes = catalog()
    .shown()
    .filter(({ aliasOf }) => aliasOf === undefined)
    .flatMap((model) => model.routes.map((route) => ({ route, status: statusOf(model, route) })));
  const isWell = ({ status }: (typeof routes)[number]): number =>
    status.state === 'available' ? 1 : 0;
  const byName = new Map<string, RouteStatus[]>();
  for (const { route, status } of routes
    .toSorted((a, b) => isWell(a) - isWell(b))
    .slice(0, MAX_ROUTES)) {
    const known = byName.get(route.provider.name) ?? [];
    byName.set(route.provider.name, known);
    known.push(status);
  }
  return Array.from(byName, ([name, own]) => ({ name, routes: own }));

  function statusOf(model: Model, route: Route): RouteStatus {
    const { state, until, consecutiveFaults, latencyMs } = health.look(route);
    return {
      model: model.id,
      upstream_model: route.upstreamModel,
      state,
      until: until === undefined ? null : new Date(until).toISOString(),
      consecutive_faults: consecutiveFaults,
      latency_ms: latencyMs === undefined ? null : Math.round(latencyMs),
    };
  }
}
