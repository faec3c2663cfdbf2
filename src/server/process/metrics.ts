import type * as Prometheus from 'prom-client';
import type { ByteBudget } from '../../core/memory/byte-budget.ts';
import type { ProviderAccount } from '../../providers/account.ts';
import type { Api, Catalog, Model } from '../../routing/catalog.ts';
import type { Health } from '../../routing/health.ts';
import type { PlacesInUse } from '../../upstream/places/connection-places.ts';
import { isPriced } from '../../usage/usage.ts';
import type { RequestObserver } from '../http/observe-requests.ts';

export interface MetricsOptions {
  catalog(): Catalog;
  health: Pick<Health, 'look'>;
  /** Connections of a provider or an API that are in use. */
  look(to: ProviderAccount | Api): PlacesInUse;
}

const NANOS_PER_DOLLAR = 1e9;
/** Undeclared models that have series of their own; clients choose their names. */
const MAX_UNDECLARED = 1_000;
const FURTHER = '(further models)';
const STATES = { available: 0, probing: 1, cooled: 2 } as const;
const OVERHEAD_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25];
const SECONDS_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/**
 * Counts requests and candidates for an operator's monitoring (requirement ops.metrics). Labels are
 * names of configured models and providers, and of a bounded number of models that are passed through;
 * they hold no key and no path.
 */
export async function createMetrics(options: MetricsOptions): Promise<RequestObserver> {
  const prometheus = await import('prom-client');
  prometheus.register.clear();
  const undeclared = new Set<string>();
  registerCandidates(prometheus, { ...options, undeclared });
  registerUnpriced(prometheus, options);
  registerConnections(prometheus, options);
  const observe = observeSeries(prometheus);
  const labelOf = createModelLabels({ ...options, undeclared });
  return (start, outcome) => observe({ ...start, model: labelOf(start.model) }, outcome);
}

interface Undeclared {
  /** Names of undeclared models with series of their own. */
  readonly undeclared: Set<string>;
}

/** Gives the label of a model, and notes it where it is undeclared. */
function createModelLabels({
  catalog,
  undeclared,
}: Pick<MetricsOptions, 'catalog'> & Undeclared): (model: string) => string {
  return (model) => {
    if (undeclared.has(model) || catalog().stepsTo(model)[0]?.rule === 'model') return model;
    if (undeclared.size >= MAX_UNDECLARED) return FURTHER;
    undeclared.add(model);
    return model;
  };
}

function observeSeries({ Counter, Histogram }: typeof Prometheus): RequestObserver {
  const requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Inference requests by how they ended.',
    labelNames: ['surface', 'model', 'provider', 'status', 'result'],
  });
  const tokens = new Counter({
    name: 'gateway_tokens_total',
    help: 'Tokens by the class they are priced in.',
    labelNames: ['model', 'class'],
  });
  const cost = new Counter({
    name: 'gateway_cost_dollars_total',
    help: 'Cost in US dollars.',
    labelNames: ['model'],
  });
  const unpriced = new Counter({
    name: 'gateway_unpriced_requests_total',
    help: 'Answers by routes without a known price, whose cost is in no sum.',
    labelNames: ['model'],
  });
  const overhead = new Histogram({
    name: 'gateway_overhead_seconds',
    help: 'Time spent in the gateway before the first upstream request was sent.',
    labelNames: ['surface'],
    buckets: OVERHEAD_BUCKETS,
  });
  const firstContent = new Histogram({
    name: 'gateway_first_content_seconds',
    help: 'Time to the first content.',
    labelNames: ['model'],
    buckets: SECONDS_BUCKETS,
  });
  return (
    { surface, model },
    { usage, status, result, answeredBy, firstContentMs, ...outcome },
  ) => {
    requests.inc({ surface, model, provider: answeredBy?.provider ?? '', status, result });
    tokens.inc({ model, class: 'input' }, usage.input);
    tokens.inc({ model, class: 'cache_read' }, usage.cacheRead);
    tokens.inc({ model, class: 'cache_write' }, usage.cacheWrite5m + usage.cacheWrite1h);
    tokens.inc({ model, class: 'output' }, usage.output);
    cost.inc({ model }, outcome.cost / NANOS_PER_DOLLAR);
    if (outcome.unpriced) unpriced.inc({ model });
    overhead.observe({ surface }, outcome.overheadUs / 1e6);
    if (firstContentMs !== null) firstContent.observe({ model }, firstContentMs / 1000);
  };
}

/** Counts rows that `server.retention` removed; after {@link createMetrics}, which resets all. */
export async function createRemovalCounter(): Promise<(kind: string, rows: number) => void> {
  const { Counter } = await import('prom-client');
  const removed = new Counter({
    name: 'gateway_removed_total',
    help: 'Rows that were removed past their age.',
    labelNames: ['kind'],
  });
  return (kind, rows) => removed.inc({ kind }, rows);
}

/** Counts requests that were refused before a record began; after {@link createMetrics}. */
export async function createRefusalCounter(): Promise<(code: string) => void> {
  const { Counter } = await import('prom-client');
  const refused = new Counter({
    name: 'gateway_refused_total',
    help: 'Requests that were refused before anything was asked, by the code of the error.',
    labelNames: ['error'],
  });
  return (error) => refused.inc({ error });
}

/** Counts unhandled rejections; after {@link createMetrics}, which resets all. */
export async function createRejectionCounter(): Promise<() => void> {
  const { Counter } = await import('prom-client');
  const unforeseen = new Counter({
    name: 'gateway_unforeseen_errors_total',
    help: 'Failures that no code foresaw and that ended nothing else.',
  });
  return () => unforeseen.inc();
}

/** Shows the fill of the memory of bodies; after {@link createMetrics}, which resets all. */
export async function createBodyGauges(budget: ByteBudget): Promise<void> {
  const { Gauge } = await import('prom-client');
  const series = [
    {
      name: 'gateway_body_memory_bytes',
      help: 'Bytes of request bodies under way.',
      read: () => budget.used,
    },
    {
      name: 'gateway_body_memory_limit_bytes',
      help: 'Most bytes of request bodies under way.',
      read: () => budget.bytes,
    },
    {
      name: 'gateway_body_memory_waiting',
      help: 'Request bodies that wait for memory.',
      read: () => budget.waiting.count,
    },
    {
      name: 'gateway_body_memory_waiting_bytes',
      help: 'Bytes that request bodies wait for.',
      read: () => budget.waiting.bytes,
    },
  ];
  for (const { name, help, read } of series) {
    const gauge: Prometheus.Gauge = new Gauge({ name, help, collect: () => gauge.set(read()) });
  }
}

/** Shows how much waits in each queue of this process; after {@link createMetrics}. */
export async function registerQueues(waiting: () => ReadonlyMap<string, number>): Promise<void> {
  const { Gauge, register } = await import('prom-client');
  const gauge = new Gauge({
    name: 'gateway_queue_waiting',
    help: 'What was asked for and is not done or begun yet.',
    labelNames: ['queue'],
    registers: [],
    collect() {
      this.reset();
      for (const [queue, count] of waiting()) this.set({ queue }, count);
    },
  });
  register.registerMetric(gauge);
}

/** Registers series that are read at each scrape, so that a removed model disappears. */
function registerCandidates(
  { Gauge, register }: typeof Prometheus,
  { catalog, health, undeclared }: MetricsOptions & Undeclared,
): void {
  const gauge = new Gauge({
    name: 'gateway_candidate_state',
    help: '0 available, 1 probing, 2 cooled.',
    labelNames: ['model', 'provider', 'upstream_model'],
    // Workers share cooldowns; one that knows more of a route counts.
    aggregator: 'max',
    registers: [],
    collect() {
      this.reset();
      for (const model of calledModels(catalog().models, undeclared)) {
        for (const route of model.routes) {
          const { provider, upstreamModel } = route;
          const labels = {
            model: model.id,
            provider: provider.name,
            upstream_model: upstreamModel,
          };
          this.set(labels, STATES[health.look(route).state]);
        }
      }
    },
  });
  register.registerMetric(gauge);
}

/** The declared models, and those that undeclared names lead to by now. */
function* calledModels(models: Catalog['models'], undeclared: Iterable<string>): Generator<Model> {
  yield* models.values();
  for (const name of undeclared) {
    const model = models.get(name);
    if (model) yield model;
  }
}

/** Registers series that are read at each scrape, so that a route that is priced meanwhile disappears. */
function registerUnpriced(
  { Gauge, register }: typeof Prometheus,
  { catalog }: Pick<MetricsOptions, 'catalog'>,
): void {
  const gauge = new Gauge({
    name: 'gateway_unpriced_routes',
    help: 'Routes and APIs without a known price, which calls under a spending limit do not use.',
    labelNames: ['model', 'provider', 'api'],
    aggregator: 'max',
    registers: [],
    collect() {
      this.reset();
      for (const { id: model, routes } of catalog().models.values())
        for (const { provider, pricing } of routes)
          if (!isPriced(pricing)) this.set({ model, provider: provider.name, api: '' }, 1);
      for (const { name, pricing } of catalog().apis.values())
        if (!isPriced(pricing)) this.set({ model: '', provider: '', api: name }, 1);
    },
  });
  register.registerMetric(gauge);
}

/** Registers series that are read at each scrape, for every provider and every API. */
function registerConnections(
  { Gauge, register }: typeof Prometheus,
  { catalog, look }: MetricsOptions,
): void {
  const gauges = [
    {
      name: 'gateway_connections_used',
      help: 'Connections that carry a call.',
      read: ({ used }: PlacesInUse) => used,
    },
    {
      name: 'gateway_connections_waiting',
      help: 'Calls that wait for one.',
      read: ({ waiting }: PlacesInUse) => waiting,
    },
  ];
  for (const { name, help, read } of gauges) {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ['provider', 'api'],
      registers: [],
      collect() {
        this.reset();
        for (const account of catalog().accounts)
          this.set({ provider: account.name, api: '' }, read(look(account)));
        for (const api of catalog().apis.values())
          this.set({ provider: '', api: api.name }, read(look(api)));
      },
    });
    register.registerMetric(gauge);
  }
}

/** Answer to a scrape. */
export interface MetricsText {
  readonly type: string;
  readonly text: string;
}

/** Series of this process. */
export async function metricsText(): Promise<MetricsText> {
  const { register } = await import('prom-client');
  return { type: register.contentType, text: await register.metrics() };
}
