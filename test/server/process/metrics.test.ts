import { afterEach, describe, expect, it } from 'vitest';
import { NameRules } from '../../../src/routing/name-rules.ts';
import { NamedModels } from '../../../src/routing/named-models.ts';
import { createHealth } from '../../../src/routing/health.ts';
import { listenForMetrics } from '../../../src/server/process/metrics-listener.ts';
import type { MetricsListener } from '../../../src/server/process/metrics-listener.ts';
import { createMetrics, metricsText, registerQueues } from '../../../src/server/process/metrics.ts';
import { NO_USAGE } from '../../../src/core/usage.ts';
import type { RequestOutcome, RequestStart } from '../../../src/usage/ledger/ledger.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../../support/catalog.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { verifies } from '../../requirements.ts';

const start = {
  surface: 'chat',
  model: 'acme/fast',
  principal: { keyId: 'key_canary' },
} as unknown as RequestStart;
const outcome: RequestOutcome = {
  status: 200,
  result: 'ok',
  answeredBy: { model: 'acme/fast', provider: 'acme', upstreamModel: 'model' },
  attempts: [],
  usage: { ...NO_USAGE, input: 7, cacheRead: 2, output: 3 },
  estimated: false,
  cost: 1_500_000_000,
  losses: [],
  overheadUs: 300,
  firstContentMs: 20,
  totalMs: 40,
};

describe('metrics', () => {
  let listener: MetricsListener | undefined;
  afterEach(() => listener?.close());

  it(
    verifies(
      'ops.metrics',
      'tell of requests, tokens, cost, overhead and candidates on a listener of their own',
    ),
    async () => {
      const health = createHealth({ clock: createFakeClock() });
      const [up, down] = [fakeRoute('acme'), fakeRoute('other')];
      const observe = await createMetrics({
        catalog: () => fakeCatalog(fakeModel('acme/fast', [up, down])),
        health,
        look: () => ({ used: 3, waiting: 2 }),
      });
      health.begin(down).fault('rate', 60_000);
      observe(start, outcome);
      listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, metricsText);

      const text = await (await fetch(listener.url)).text();
      expect(text).toContain(
        'gateway_requests_total{surface="chat",model="acme/fast",provider="acme",status="200",result="ok"} 1',
      );
      expect(text).toContain('gateway_tokens_total{model="acme/fast",class="cache_read"} 2');
      expect(text).toContain('gateway_cost_dollars_total{model="acme/fast"} 1.5');
      expect(text).toContain('gateway_overhead_seconds_sum{surface="chat"} 0.0003');
      expect(text).toContain('gateway_first_content_seconds_count{model="acme/fast"} 1');
      expect(text).toContain('gateway_connections_used{provider="acme",api=""} 3');
      expect(text).toContain('gateway_connections_waiting{provider="acme",api=""} 2');
      expect(text).toContain(
        'gateway_candidate_state{model="acme/fast",provider="acme",upstream_model="model"} 0',
      );
      expect(text).toContain(
        'gateway_candidate_state{model="acme/fast",provider="other",upstream_model="model"} 2',
      );
      expect(text).not.toContain('key_canary');
      expect((await fetch(new URL('/v1/models', listener.url))).status).toBe(404);
    },
  );

  it('tell of providers and of models that nobody declared', async () => {
    const health = createHealth({ clock: createFakeClock() });
    const route = fakeRoute('open', { upstreamModel: 'new' });
    const passed = fakeModel('open/new', [route]);
    const catalog = { ...fakeCatalog(), accounts: [route.provider] };
    const models = new NamedModels({
      declared: new Map(),
      off: new Map(),
      rules: new NameRules([], [{ name: 'open', patterns: ['*'] }]),
      passThrough: (name) => (name === passed.id ? passed : undefined),
      listed: () => [],
    });
    const observe = await createMetrics({
      catalog: () => ({ ...catalog, models, stepsTo: (name) => models.stepsTo(name) }),
      health,
      look: () => ({ used: 3, waiting: 2 }),
    });
    health.begin(route).fault('rate', 60_000);
    for (const model of ['open/new', 'nobody/knows']) observe({ ...start, model }, outcome);
    const { text } = await metricsText();
    expect(text).toContain('gateway_connections_used{provider="open",api=""} 3');
    expect(text).toContain('gateway_connections_waiting{provider="open",api=""} 2');
    expect(text.match(/^gateway_candidate_state\{.*$/gm)).toEqual([
      'gateway_candidate_state{model="open/new",provider="open",upstream_model="new"} 2',
    ]);
  });

  it('are not added up over workers where they say a state', async () => {
    const health = createHealth({ clock: createFakeClock() });
    const down = fakeRoute('acme');
    await createMetrics({
      catalog: () => fakeCatalog(fakeModel('acme/fast', [down])),
      health,
      look: () => ({ used: 0, waiting: 0 }),
    });
    health.begin(down).fault('rate', 60_000);
    const { AggregatorRegistry, register } = await import('prom-client');
    const ofOne = await register.getMetricsAsJSON();
    const text = await AggregatorRegistry.aggregate([ofOne, ofOne]).metrics();
    expect(text).toMatch(/^gateway_candidate_state\{model="acme\/fast".*\} 2$/m);
  });

  it('says which address cannot be had', async () => {
    listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, metricsText);
    const port = Number(new URL(listener.url).port);
    await expect(listenForMetrics({ host: '127.0.0.1', port }, metricsText)).rejects.toThrow(
      `metrics cannot listen on 127.0.0.1:${port}`,
    );
  });

  it(verifies('queues.fairness', 'tell how much waits in each queue, as it is now'), async () => {
    const health = createHealth({ clock: createFakeClock() });
    const look = () => ({ used: 0, waiting: 0 });
    await createMetrics({ catalog: () => fakeCatalog(), health, look });
    const waiting = new Map([['ledger', 3]]);
    await registerQueues(() => waiting);
    expect((await metricsText()).text).toContain('gateway_queue_waiting{queue="ledger"} 3');
    waiting.delete('ledger');
    waiting.set('run', 1);
    const { text } = await metricsText();
    expect(text).toContain('gateway_queue_waiting{queue="run"} 1');
    expect(text).not.toContain('queue="ledger"');
  });
});
