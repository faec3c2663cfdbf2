import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { planning } from './planned-on-fake.ts';

const EMPTY = 'providers: []\nmodels: []\naliases: []\n';
const PROVIDERS =
  'providers: [{ name: up, type: mock }, { name: open, type: mock, models: all }]\n';
const MODELS = 'models: [{ name: team/a, routes: [{ provider: up, upstream_model: echo }] }]\n';
const ORGANIZATION = 'organizations: [{ name: default }]\n';

async function kept(before: string, after: string): Promise<(readonly [string, string])[]> {
  const { planOf, applied, server } = planning();
  const report = await applied(before);
  expect(report.failed, JSON.stringify(report.failed)).toEqual([]);
  const planned = await planOf(after, { mode: 'prune' });
  const actual = { ...planned.planned.actual };
  for (const kind of ['agent', 'service', 'deployment', 'budget', 'key'] as const)
    actual[kind] = await server.list(kind);
  const { plan } = await planOf(after, { mode: 'prune', actual });
  return (plan.kept ?? []).map(({ kind, identity, reason }) => [`${kind} ${identity}`, reason]);
}

describe('a removal', () => {
  it.each([
    [
      'a model of an Agent, and the provider of the model',
      `${ORGANIZATION}${PROVIDERS}${MODELS}agents: [{ name: bot, model: team/a }]\n`,
      [
        ['model team/a', 'it is used by agent default/bot'],
        ['provider up', 'it is used by model team/a'],
      ],
    ],
    [
      'the alias and the model by which an Agent calls',
      `${ORGANIZATION}${PROVIDERS}${MODELS}aliases: [{ name: fast, model: team/a }]\nagents: [{ name: bot, model: fast }]\n`,
      [
        ['alias fast', 'it is used by agent default/bot'],
        ['model team/a', 'it is used by alias fast, agent default/bot'],
        ['provider up', 'it is used by model team/a'],
      ],
    ],
    [
      'the provider that serves the model of an Agent without a declaration',
      `${ORGANIZATION}${PROVIDERS}agents: [{ name: bot, model: open/anything }]\n`,
      [['provider open', 'it is used by agent default/bot']],
    ],
  ])(verifies('apply.references-offline', 'leaves out %s'), async (_what, before, expected) => {
    expect(await kept(before, EMPTY)).toEqual(expected);
  });

  it(
    verifies('apply.references-offline', 'leaves out the Agent of a Service and of a Schedule'),
    async () => {
      const agents =
        'agents: [{ name: bot, model: a/b }, { name: clock, model: a/b }, { name: free, model: a/b }]\n';
      const users = `services: [{ name: desk, agent_id: bot, protocols: [rest] }]
deployments:
  - name: daily
    agent_id: clock
    initial_events: [{ type: user.message, content: [{ type: text, text: Hi }] }]
`;
      expect(await kept(ORGANIZATION + agents + users, 'agents: []\n')).toEqual([
        ['agent default/clock', 'it is used by schedule default/daily'],
        ['agent default/bot', 'it is used by service default/desk'],
      ]);
    },
  );

  it('leaves out a key of a budget, and the model that a budget answers by', async () => {
    const before = `${ORGANIZATION}${PROVIDERS}${MODELS}keys: [{ name: k }]
budgets: [{ name: b, amount: "1", per: day, match: { keys: [k] }, on_exceed: { downgrade: team/a } }]
`;
    expect(await kept(before, 'keys: []\nmodels: []\n')).toEqual([
      ['key default/k', 'it is used by budget default/b'],
      ['model team/a', 'it is used by budget default/b'],
    ]);
  });

  it('takes all that goes together, and what is named by another object of the name', async () => {
    const before = `${ORGANIZATION}${PROVIDERS}${MODELS}agents: [{ name: bot, model: team/a }]\n`;
    expect(await kept(before, `${EMPTY}agents: []\n`)).toEqual([]);
    const renamed = `${PROVIDERS}models: []\naliases: [{ name: team/a, model: open/b }]\n`;
    expect(await kept(before, renamed)).toEqual([]);
    const moved = `${PROVIDERS}models: []\nagents: [{ name: bot, model: open/b }]\n`;
    expect(await kept(before, moved)).toEqual([]);
  });
});
