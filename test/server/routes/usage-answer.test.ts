import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { answerUsage } from '../../../src/server/routes/usage-answer.ts';
import type { UsageDeps } from '../../../src/server/routes/usage-answer.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createStarts, DAY, DOLLAR, outcome, principal } from '../../usage/usage-fixtures.ts';

const NAMES: Readonly<Record<string, string>> = {
  key_1: 'first',
  org_1: 'acme',
  agent_1: 'Support',
  svc_1: 'Desk',
  depl_1: 'Nightly',
};

/** Two calls of 1 and 2 dollars, now and ten days ago: `2026-11-21` and `2026-11-11`. */
async function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const ledger = createLedger({ store, clock, worker: 'w1' });
  const start = createStarts(clock);
  const origin = {
    conversation: 'one',
    agent: 'agent_1',
    service: 'svc_1',
    schedule: 'depl_1',
    labels: { team: 'core' },
  };
  ledger.begin(start({ origin })).settle(outcome({ cost: DOLLAR }));
  const schedule = principal({ keyId: 'depl_1' });
  const earlier = { at: clock.now() - 10 * DAY, principal: schedule };
  ledger.begin(start(earlier)).settle(outcome({ cost: 2 * DOLLAR }));
  await ledger.drain();
  const find: UsageDeps['repository']['find'] = async (_definition, id) => {
    const name = NAMES[id];
    return name === undefined ? undefined : ({ id, spec: { name } } as never);
  };
  const usage = { labels: ['team'], tags: [] };
  const deps: UsageDeps = { store, clock, repository: { find }, usage };
  return { deps, ask: (query: string, owner?: string) => answerUsage(query, deps, owner) };
}

describe('answerUsage', () => {
  it(
    verifies('usage.by-dimension', 'puts names beside ids, and null where there is neither'),
    async () => {
      const { ask } = await setUp();
      const dimensions = { key: 'key_1', agent: 'agent_1', service: 'svc_1', schedule: 'depl_1' };
      for (const [group, id] of Object.entries(dimensions)) {
        const { data } = await ask(`?group_by=${group}`);
        const row = data.find((one) =>
          Object.entries(one).some(([name, value]) => name === group && value === id),
        );
        expect(row, group).toMatchObject({ [`${group}_name`]: NAMES[id], cost: '1.00' });
        const others = data.filter((one) => one !== row);
        const name = group === 'key' ? 'Nightly' : null;
        expect(others, group).toMatchObject([{ [`${group}_name`]: name, cost: '2.00' }]);
      }
      expect((await ask('?group_by=label:team')).data).toMatchObject([
        { 'label:team': 'core', cost: '1.00' },
        { 'label:team': null, cost: '2.00' },
      ]);
      expect((await ask('?group_by=organization,conversation')).data).toMatchObject([
        { organization: 'org_1', organization_name: 'acme', conversation: 'one', cost: '1.00' },
        { organization: 'org_1', organization_name: 'acme', conversation: null, cost: '2.00' },
      ]);
      expect((await ask('?conversation=one')).data).toMatchObject([{ requests: 1, cost: '1.00' }]);
      expect((await ask('', 'org_2')).data).toEqual([]);
      expect((await ask('')).dimensions).toEqual(
        expect.arrayContaining(['model', 'conversation', 'schedule', 'label:team']),
      );
    },
  );

  it(
    verifies(
      'usage.forecast',
      'tells what the running month will cost at its pace, no other month',
    ),
    async () => {
      const { ask } = await setUp();
      // 3 dollars in 20 of 30 days.
      expect((await ask('?month=2026-11&group_by=model')).forecast).toEqual({
        month: '2026-11',
        spent: '3.00',
        cost: '4.50',
        unpriced: 0,
      });
      expect((await ask('?month=2026-11', 'org_2')).forecast).toMatchObject({ cost: '0.00' });
      for (const query of ['?month=2026-10', '?from=2026-11-01', ''])
        expect((await ask(query)).forecast, query).toBeNull();
      expect((await ask('?month=2026-10')).data).toEqual([]);
      expect((await ask('?month=2026-11')).data).toMatchObject([{ cost: '3.00' }]);
    },
  );

  it(
    verifies('usage.sums-bounded', 'refuses labels and tags that are not allowed to be dimensions'),
    async () => {
      const { ask } = await setUp();
      const refusals: Readonly<Record<string, string>> = {
        'group_by=label:cost_center':
          'group_by: use is not summed by label:cost_center; add it to server.usage.labels',
        'group_by=tag:team': 'group_by: use is not summed by tag:team; add it to server.usage.tags',
        'group_by=conversation,model':
          'group_by: conversation can be combined with day and organization, not with model',
        'conversation=c&group_by=key':
          'group_by: conversation can be combined with day and organization, not with key',
        'month=2026-13': 'month: expected a month such as 2026-11',
        'month=2026-11&from=2026-11-01': 'month: cannot be combined with from and to',
      };
      for (const [query, message] of Object.entries(refusals))
        await expect(ask(`?${query}`), query).rejects.toMatchObject({
          code: 'invalid_request',
          message,
        });
      await expect(ask('?group_by=mood')).rejects.toThrow(
        /^group_by: expected one of organization/,
      );
    },
  );
});
