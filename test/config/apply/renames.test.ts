import { describe, expect, it } from 'vitest';
import { apply, readActual } from '../../../src/config/apply/apply.ts';
import { converge } from '../../../src/config/apply/converge.ts';
import { takenSlugs } from '../../../src/config/plan/check-online.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { ownerFor, plan, type PlanOptions } from '../../../src/config/plan/plan.ts';
import { bootstrap } from '../../../src/resources/bootstrap.ts';
import { createResourceClient } from '../../../src/server/compose/resource-client.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { memoryFiles } from '../memory-files.ts';

const BEFORE = `
version: 1
organizations: [{ name: default }]
providers:
  - { name: rp, type: mock }
models:
  - { name: rn/a, routes: [{ provider: rp }] }
  - { name: rn/b, routes: [{ provider: rp, weight: 2 }], fallbacks: [rn/a] }
keys:
  - { name: ci }
budgets:
  - { name: team, amount: "5", per: day, match: { keys: [ci] } }
`;

const AFTER = `
version: 1
organizations: [{ name: default }]
providers:
  - { name: rp2, type: mock }
models:
  - { name: rn/a2, routes: [{ provider: rp2 }] }
  - { name: rn/b, routes: [{ provider: rp2, weight: 3 }], fallbacks: [rn/a2] }
keys:
  - { name: ci2 }
budgets:
  - { name: team, amount: "6", per: day, match: { keys: [ci2] } }
moved:
  - { kind: provider, from: rp, to: rp2 }
  - { kind: model, from: rn/a, to: rn/a2 }
  - { kind: key, from: ci, to: ci2 }
`;

async function load(text: string) {
  const files = memoryFiles({ '/gw/gateway.yaml': text });
  const loaded = await loadConfig({ paths: ['gateway.yaml'], env: {}, cwd: '/gw', files });
  expect(loaded.diagnostics).toEqual([]);
  return loaded.config!.desired;
}

async function setUp() {
  const { repository, call } = makeResources();
  await bootstrap(repository);
  const client = createResourceClient(repository);
  const planned = async (text: string): Promise<PlanOptions> => {
    const desired = await load(text);
    return { desired, actual: await readActual(client, desired), mode: 'apply' };
  };
  const run = async (text: string, parallelism = 1) => {
    const options = await planned(text);
    const { desired } = options;
    const owner = ownerFor(options);
    const secrets = new Map();
    return apply({ plan: plan(options), desired, owner, client, secrets, parallelism });
  };
  const left = async (text: string) => plan(await planned(text)).summary.total;
  const start = async (text: string) =>
    converge({
      desired: await load(text),
      client,
      sources: { env: {}, files: memoryFiles({}) },
      secretMatches: () => true,
    });
  return { call, client, planned, run, left, start };
}

describe('a rename of what others refer to by name', () => {
  it.each([1, 8])('is applied together with them, %d at a time', async (parallelism) => {
    const { client, run, left } = await setUp();
    await run(BEFORE);
    const ids = (await client.list('provider')).map(({ id }) => id);
    const report = await run(AFTER, parallelism);
    expect(report).toMatchObject({ failed: [], blocked: [], notRun: [] });
    expect(await left(AFTER)).toBe(0);
    expect((await client.list('provider')).map(({ id }) => id)).toEqual(ids);
    expect(await client.list('budget')).toMatchObject([
      { match: { keys: ['ci2'] }, amount: '6.00' },
    ]);
  });

  it('is made at start', async () => {
    const { client, start } = await setUp();
    expect((await start(BEFORE)).diagnostics).toEqual([]);
    expect((await start(AFTER)).diagnostics).toEqual([]);
    expect(await client.list('model')).toMatchObject([
      { name: 'rn/a2', routes: [{ provider: 'rp2' }] },
      { name: 'rn/b', routes: [{ provider: 'rp2', weight: 3 }], fallbacks: ['rn/a2'] },
    ]);
  });

  it('comes before the change of what no longer refers to it', async () => {
    const { client, run } = await setUp();
    await run(BEFORE);
    const apart = AFTER.replace('name: rn/b', 'name: rn/0')
      .replace('routes: [{ provider: rp2, weight: 3 }], fallbacks: [rn/a2]', 'routes: []')
      .concat('  - { kind: model, from: rn/b, to: rn/0 }\n');
    expect(await run(apart, 8)).toMatchObject({ failed: [], blocked: [], notRun: [] });
    const [, other] = await client.list('model');
    expect(other).toMatchObject({ name: 'rn/0', routes: [] });
  });

  it('overwrites no change that somebody else makes to them meanwhile', async () => {
    const { call, client, run } = await setUp();
    await run(BEFORE);
    const { list } = client;
    // The look at the models behind the rename finds one that was changed since.
    let isChanged = false;
    client.list = async (kind) => {
      const [provider] = await list('provider');
      if (kind === 'model' && provider?.['name'] === 'rp2' && !isChanged) {
        isChanged = true;
        await call('PATCH models/rn%2Fb', { body: { enabled: false } });
      }
      return list(kind);
    };
    const report = await run(AFTER.replace('rn/b,', 'rn/b, enabled: true,'));
    expect(report.failed).toMatchObject([{ kind: 'model', identity: 'rn/b' }]);
  });
});

describe('a slug that another object of the files gives up', () => {
  const services = (slugs: Record<string, string>) =>
    `version: 1
organizations: [{ name: default }]
agents: [{ name: bot, model: a/b }]
services:
${Object.entries(slugs)
  .map(
    ([name, slug]) =>
      `  - { name: ${name}, slug: ${slug}, agent_id: "\${ref:agent.bot.id}", protocols: [rest] }\n`,
  )
  .join('')}`;

  it.each([1, 8])('is taken behind it, %d at a time', async (parallelism) => {
    const { run, left, planned } = await setUp();
    await run(services({ s1: 'one', s2: 'two', s3: 'four' }));
    const next = services({ s0: 'four', s1: 'two', s2: 'three', s3: 'five' });
    expect(takenSlugs(await planned(next))).toEqual([]);
    expect(await run(next, parallelism)).toMatchObject({ failed: [], blocked: [] });
    expect(await left(next)).toBe(0);
  });

  it('stays refused where both wait for each other, or the holder keeps it', async () => {
    const { run, planned } = await setUp();
    await run(services({ s1: 'one', s2: 'two' }));
    const taken = async (slugs: Record<string, string>) =>
      takenSlugs(await planned(services(slugs))).map(({ object }) => object.name);
    expect(await taken({ s1: 'two', s2: 'one' })).toEqual(['s1', 's2']);
    expect(await taken({ s0: 'two', s2: 'two' })).toEqual(['s0']);
    expect(await taken({ s0: 'two' })).toEqual(['s0']);
  });
});
