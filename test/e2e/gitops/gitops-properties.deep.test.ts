import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
import { runsOf, SEED } from '../../runs.ts';
import { startCountingProxy, type CountingProxy } from '../../support/stage/counting-proxy.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

type Tree = Record<string, { name: string; [field: string]: unknown }[]>;

const RUNS = { numRuns: runsOf(3, 12), seed: SEED, endOnFailure: true };
/** Dozens of applies, on a machine that others use as well. */
const SLOW = 600_000;
const KINDS = [
  'organizations',
  'providers',
  'models',
  'apis',
  'skills',
  'agents',
  'credentials',
  'services',
  'deployments',
];

/** What a text may be: with blanks around it, with what looks like a reference, of any script. */
const text = fc.oneof(
  fc.constantFrom('plain', 'costs $${price}', "it's: #1", 'ünïcode ☂', 'null', '007'),
  fc
    .string({ minLength: 1, maxLength: 20 })
    .filter((one) => one.trim() !== '')
    .map((one) => one.replaceAll('${', () => '$${')),
);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const money = fc.oneof(fc.constantFrom('0.15', '0.150', 3, '12'), fc.integer({ min: 1, max: 99 }));
const labels = fc.dictionary(fc.constantFrom('tier', 'owner'), fc.constantFrom('a', 'b'));

const provider = fc.record(
  {
    type: fc.constantFrom('mock', 'openai'),
    timeouts: fc.record({ idle: fc.constantFrom(30, '30s', '2m') }, { requiredKeys: [] }),
    enabled: fc.boolean(),
    labels,
  },
  { requiredKeys: ['type'] },
);
const route = fc.record(
  {
    provider: fc.constantFrom('p0', 'p1'),
    weight: fc.integer({ min: 1, max: 9 }),
    priority: fc.integer({ min: 0, max: 2 }),
    upstream_model: fc.constantFrom('one', 'two'),
  },
  { requiredKeys: ['provider'] },
);
const model = fc.record(
  {
    routes: fc.array(route, { minLength: 1, maxLength: 3 }),
    description: text,
    pricing: fc.record({ input: money, output: money }, { requiredKeys: [] }),
    labels,
    enabled: fc.boolean(),
  },
  { requiredKeys: ['routes'] },
);
const agent = fc.record(
  { model: fc.constant('team/m0'), system: text, description: text },
  { requiredKeys: ['model'] },
);
const service = fc.record(
  {
    agent_id: fc.constantFrom('${ref:agent.a0.id}', '${ref:agent.a1.id}'),
    protocols: fc.subarray(['mcp', 'rest', 'acp'], { minLength: 1 }),
    memory_config: fc.constantFrom({ a: null }, { b: [1, null] }),
    labels,
  },
  { requiredKeys: ['agent_id', 'protocols'] },
);
const deployment = fc.record(
  {
    agent_id: fc.constantFrom('${ref:agent.a0.id}', '${ref:agent.a1.id}'),
    initial_events: fc.constant([
      { type: 'user.message', content: [{ type: 'text', text: 'go' }] },
    ]),
    schedule: fc.constantFrom(
      { type: 'cron', expression: '0 7 * * 1-5', timezone: 'Europe/Berlin' },
      { type: 'cron', expression: '5 4 * * *', timezone: 'UTC' },
    ),
    description: text,
  },
  { requiredKeys: ['agent_id', 'initial_events'] },
);

const api = fc.record(
  {
    base_url: fc.constantFrom('https://api.example.com/v1', 'https://api.example.com/v2/'),
    auth: fc.constantFrom({ type: 'bearer' }, { type: 'header', name: 'X-Key' }),
    methods: fc.subarray(['GET', 'POST'], { minLength: 1 }),
    headers: fc.dictionary(fc.constantFrom('X-Team', 'x-other'), fc.constantFrom('a', 'b')),
    timeouts: fc.record({ idle: fc.constantFrom(30, '1m') }, { requiredKeys: [] }),
    description: text,
    labels,
  },
  { requiredKeys: ['base_url'] },
);
const skill = fc.constantFrom('reads', 'writes').map((description) => ({
  files: { 'SKILL.md': `---\nname: review\ndescription: ${description}\n---\nRead.` },
}));

/** Some of a few objects of each kind; what they refer to is always there. */
const configuration: fc.Arbitrary<Tree> = fc
  .record({
    organizations: optional(fc.record({ spending_limit: fc.record({ day: money }), labels })),
    p: fc.tuple(provider, provider),
    m: fc.tuple(model, optional(model), optional(model)),
    a: fc.tuple(agent, agent),
    s: fc.tuple(optional(service), optional(service)),
    d: fc.tuple(optional(deployment), optional(deployment)),
    x: optional(api),
    skill: optional(skill),
    fallback: fc.boolean(),
    credential: fc.boolean(),
  })
  .map(({ organizations, p, m, a, s, d, x, skill: review, fallback, credential }) => {
    const named = <T extends object>(prefix: string, all: readonly (T | undefined)[]) =>
      all.flatMap((one, index) => (one ? [{ name: `${prefix}${index}`, ...one }] : []));
    // A field that is not declared stays as it is, and one that names a model keeps that alive.
    const models = named('team/m', m).map((one, index, { [index + 1]: next }) => ({
      ...one,
      fallbacks: fallback && next ? [next.name] : [],
    }));
    const token = {
      name: 'token',
      agent_id: '${ref:agent.a0.id}',
      scope: 'env',
      scope_name: 'TOKEN',
      secret_key: 'TOKEN',
      value: '${secret:env:TOKEN}',
    };
    return {
      organizations: organizations ? [{ name: 'acme', ...organizations }] : [],
      providers: named('p', p),
      models,
      apis: named('x', [x && { ...x, api_key: '${secret:env:TOKEN}' }]),
      skills: review ? [{ name: 'review', ...review }] : [],
      agents: named('a', a),
      credentials: credential ? [token] : [],
      services: named('s', s),
      deployments: named('d', d),
    };
  });

/** What somebody does behind the files: to which kind, which one of them, and with what. */
const meddling = fc.array(
  fc.record({
    kind: fc.constantFrom('providers', 'models', 'agents', 'services', 'deployments'),
    pick: fc.nat(9),
    how: fc.constantFrom('description', 'labels', 'delete', 'pause'),
  }),
  { maxLength: 4 },
);

let gateway: TestGateway;
let proxy: CountingProxy;
let cwd: string;
beforeAll(async () => {
  [gateway, cwd] = await Promise.all([startGateway(), emptyDirectory()]);
  proxy = await startCountingProxy(gateway.url);
});
afterAll(async () => {
  await proxy.close();
  await gateway.stop();
});

const CANARY = 'canary-value-5c1f';
let told = '';

async function cli(...argv: string[]) {
  const secrets = { TOKEN: CANARY, CREDENTIAL_TOKEN_VALUE: CANARY, API_X0_API_KEY: CANARY };
  const env = { GATEWAY_SERVER: proxy.url, GATEWAY_API_KEY: gateway.adminKey, ...secrets };
  const run = await runCli([...argv, '--debug'], { cwd, env });
  told += run.stdout + run.stderr;
  return run;
}

async function listed(kind: string) {
  const { body } = await gateway.admin('GET', `/admin/v1/${kind}?limit=100`);
  return body.data as { id: string; name: string; labels: Record<string, string> }[];
}

async function applied(tree: Tree): Promise<void> {
  await writeFile(
    join(cwd, 'gateway.yaml'),
    JSON.stringify({ version: 1, namespace: 'team', ...tree }),
  );
  const planned = await cli('plan', '--prune', '-o', 'json');
  expect(planned.code, planned.stdout).toBe(0);
  const { confirmPrune, irreversible, summary } = planned.json().data;
  const isAsked = confirmPrune !== null || irreversible.length > 0;
  const count = isAsked ? ['--confirm-prune', String(summary.remove)] : [];
  const done = await cli('apply', '--prune', '--yes', '--allow-replace', '-o', 'json', ...count);
  const { data, error } = done.json();
  const { failed, blocked, notRun } = data ?? {};
  expect(done.code, JSON.stringify({ failed, blocked, notRun, error })).toBe(0);
}

/** Nothing is left to do, nothing is written, and what there is of the namespace is what is declared. */
async function expectReached(tree: Tree): Promise<void> {
  proxy.seen.length = 0;
  const again = await cli('apply', '--prune', '--yes', '-o', 'json');
  expect(again.json().data.summary, again.stdout).toMatchObject({ total: 0 });
  expect(proxy.writes()).toEqual([]);
  for (const kind of KINDS.filter((one) => one !== 'credentials')) {
    const own = (await listed(kind)).filter((one) => one.labels['gateway/namespace'] === 'team');
    const names = (tree[kind] ?? []).map(({ name }) => name);
    expect(own.map(({ name }) => name).sort(), kind).toEqual(names.sort());
  }
}

async function expectDumped(): Promise<void> {
  const { stdout } = await cli('dump', '--namespace', 'team');
  await writeFile(join(cwd, 'dump.yaml'), stdout);
  const planned = await cli('plan', '-f', 'dump.yaml', '-o', 'json');
  expect(planned.json().data?.summary, planned.stdout).toMatchObject({ total: 0 });
}

async function meddle(kind: string, pick: number, how: string): Promise<void> {
  const all = (await listed(kind)).filter((one) => one.labels['gateway/namespace'] === 'team');
  const one = all[pick % Math.max(all.length, 1)];
  if (!one) return;
  const path = `/admin/v1/${kind}/${one.id}`;
  if (how === 'pause') await gateway.admin('POST', `${path}/pause`, {});
  else if (how === 'delete') await gateway.admin('DELETE', path);
  else if (how === 'description') await gateway.admin('PATCH', path, { description: 'by hand' });
  else await gateway.admin('PATCH', path, { labels: { ...one.labels, tier: 'by hand' } });
}

describe('random configurations', () => {
  it(
    verifies(
      'cli.apply.idempotent',
      'cli.apply.creates-and-updates',
      'cli.apply.order',
      'cli.plan.no-secrets',
      'cli.dump.round-trip',
      'are reached from any state that others left, and then there is nothing to do',
    ),
    async () => {
      await fc.assert(
        fc.asyncProperty(configuration, meddling, configuration, async (first, acts, second) => {
          await applied(first);
          await expectReached(first);
          for (const { kind, pick, how } of acts) await meddle(kind, pick, how);
          await applied(second);
          await expectReached(second);
          await expectDumped();
        }),
        RUNS,
      );
      expect(told + gateway.log()).not.toContain(CANARY);
      expect(told).toContain('${secret:env:TOKEN}');
    },
    SLOW,
  );

  it(
    verifies('cli.apply.prune', 'cli.apply.ownership', 'leave what they do not own as it is'),
    async () => {
      const bystanders = async () =>
        Promise.all(
          KINDS.map(async (kind) =>
            (await listed(kind)).filter((one) => one.labels['gateway/namespace'] !== 'team'),
          ),
        );
      await gateway.admin('POST', '/admin/v1/providers', { name: 'by hand', type: 'mock' });
      const others = { version: 1, namespace: 'others' };
      await writeFile(
        join(cwd, 'others.yaml'),
        JSON.stringify({
          ...others,
          providers: [{ name: 'theirs', type: 'mock' }],
          models: [{ name: 'others/model', routes: [{ provider: 'theirs' }] }],
          agents: [{ name: 'their agent', model: 'others/model' }],
          services: [{ name: 's9', agent_id: '${ref:agent.their agent.id}', protocols: ['rest'] }],
        }),
      );
      const done = await cli('apply', '-f', 'others.yaml', '--yes');
      expect(done.code, done.stderr).toBe(0);
      const before = await bystanders();
      expect(before.flat().length).toBeGreaterThanOrEqual(6);
      await fc.assert(
        fc.asyncProperty(configuration, async (tree) => {
          await applied(tree);
          expect(await bystanders()).toEqual(before);
        }),
        RUNS,
      );
      await applied(Object.fromEntries(KINDS.map((kind) => [kind, []])));
      expect(await bystanders()).toEqual(before);
    },
    SLOW,
  );
});
