import { createHash } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { keepPrices } from '../../../src/resources/prices/kept-prices.ts';
import { openResources } from '../../../src/server/compose/open-resources.ts';
import type { ResourcesOptions } from '../../../src/server/compose/open-resources.ts';
import { GATEWAY_ORIGIN } from '../../../src/audit/audit-entry.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { makeResources, MASTER_KEY } from '../../resources/make-resources.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';

it('counts all routes without a price, and names the first fifty', async () => {
  const gateway = await startGateway({
    providers: [
      {
        name: 'own',
        type: 'custom',
        base_url: 'http://127.0.0.1:9/v1',
        protocols: { chat: true },
        auth: { type: 'none' },
      },
    ],
    models: Array.from({ length: 52 }, (_, index) => ({
      name: `acme/m${index}`,
      routes: [{ provider: 'own', upstream_model: 'm' }],
    })),
  });
  try {
    const line = await eventually(() => /^.*unpriced routes.*$/m.exec(gateway.log())?.[0]);
    expect(line).toContain('count=52');
    expect(/routes="([^"]+)"/.exec(line)?.[1]?.split(', ')).toHaveLength(50);
  } finally {
    await gateway.stop();
  }
});

it('takes a published price from the day on which it begins, and leaves no timer behind', async () => {
  const clock = createFakeClock(Date.parse('2026-12-31T23:59:48Z'));
  const { call, store, repository } = makeResources({ clock });
  await call('POST providers', { body: { name: 'up', type: 'openai', api_key: 'key_1' } });
  const routes = [{ provider: 'up', upstream_model: 'm' }];
  await call('POST models', { body: { name: 'acme/m', routes } });
  const prices = [
    { prices: { input_mtok: 1, output_mtok: 2 } },
    { constraint: { start_date: '2027-01-01' }, prices: { input_mtok: 3, output_mtok: 4 } },
  ];
  const model = { id: 'm', match: { equals: 'm' }, prices };
  const text = JSON.stringify({ providers: [{ id: 'openai', models: [model] }] });
  const sha256 = createHash('sha256').update(text).digest('hex');
  const scope = { repository, by: GATEWAY_ORIGIN, now: clock.now() };
  await keepPrices({ text, sha256, from: 'prices.json' }, scope);

  const before = clock.pending;
  const failed = vi.fn();
  const live = await openResources(store, {
    clock,
    ids: createIdSource(clock),
    masterKeys: [MASTER_KEY],
    firstContentSet: false,
    log: { error: failed, warn: failed },
    config: {
      timeouts: { firstContent: 1, idle: 1, total: 1 },
      notifications: { webhooks: [] },
      limits: { unpriced: 'allow' },
      harnesses: {},
      mcpServers: {},
    },
  } as unknown as ResourcesOptions);
  onTestFinished(() => live.close());
  const input = () => live.catalog.current().models.get('acme/m')?.routes[0]?.pricing.input;
  expect(input()).toBe(1_000);
  clock.advance(12_000);
  await vi.waitFor(() => expect(input()).toBe(3_000));
  expect(failed).not.toHaveBeenCalled();
  live.close();
  expect(clock.pending).toBe(before);
});
