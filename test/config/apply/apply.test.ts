import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apply, readActual } from '../../../src/config/apply/apply.ts';
import { StalePlanError } from '../../../src/config/plan/stale-plan-error.ts';
import { formatDiagnostics } from '../../../src/config/source/diagnostic.ts';
import { type LoadedConfig, loadConfig } from '../../../src/config/read/load-config.ts';
import { ownerFor, type Plan, plan, type PlanOptions } from '../../../src/config/plan/plan.ts';
import { resolveAllSecrets } from '../../../src/config/read/secrets.ts';
import { verifies } from '../../requirements.ts';
import { FakeServer } from '../fake-server.ts';
import { memoryFiles } from '../memory-files.ts';

const CANARY = 'sk-canary-3b9f27c1-do-not-print';
const env = { OPENAI_API_KEY: CANARY, CI_KEY: `${CANARY}-key`, TEAM: 'search' };

const FULL = `
version: 1
namespace: team
organizations:
  - name: "  acme "
    spending_limit: 10
providers:
  - name: openai
    type: openai
    api_key: \${secret:env:OPENAI_API_KEY}
    timeouts: { idle: 30, total: 5m }
  - name: spare
    type: mock
models:
  - name: acme/fast
    capabilities: [vision, tools]
    pricing: { input: 0.15, output: "0.60" }
    fallbacks: [acme/slow]
    routes:
      - { provider: openai, upstream_model: gpt, weight: 2, protocols: [responses, chat] }
      - { provider: spare, priority: 1, min_throughput: { bytes_per_second: 5, over: 2 } }
  - name: acme/slow
    labels: { team: "\${env:TEAM}" }
    routes: [{ provider: spare }]
keys:
  - name: ci
    organization: \${ref:organization.acme.name}
    value: \${secret:env:CI_KEY}
    scopes: [models, inference]
    spending_limit: { day: "5" }
    expires_at: "2030-01-01T00:00:00+01:00"
`;

async function load(text: string): Promise<NonNullable<LoadedConfig['config']>> {
  const { config, diagnostics } = await loadConfig({
    paths: ['/gw/gateway.yaml'],
    env,
    cwd: '/gw',
    files: memoryFiles({ '/gw/gateway.yaml': text }),
  });
  if (config === undefined) throw new Error(formatDiagnostics(diagnostics, 'text'));
  return config;
}

async function planFor(server: FakeServer, text: string, options: Partial<PlanOptions> = {}) {
  const { desired } = await load(text);
  const actual = await readActual(server, desired);
  const planning: PlanOptions = { desired, actual, mode: 'apply', ...options };
  return { planning, planned: plan(planning) };
}

async function run(server: FakeServer, text: string, options: Partial<PlanOptions> = {}) {
  const { planning, planned } = await planFor(server, text, options);
  server.writes.length = 0;
  return { planned, report: await execute(server, planned, planning) };
}

async function execute(
  server: FakeServer,
  planned: Plan,
  planning: PlanOptions & { signal?: AbortSignal },
) {
  const { desired, signal } = planning;
  const { secrets } = await resolveAllSecrets(desired, { env, files: memoryFiles({}) });
  const owner = ownerFor(planning);
  return apply({
    plan: planned,
    desired,
    owner,
    client: server,
    secrets,
    pause: () => Promise.resolve(),
    ...(signal && { signal }),
  });
}

const names = (list: readonly { kind: string; identity: string }[]) =>
  list.map(({ kind, identity }) => `${kind} ${identity}`);

describe('plan and apply', () => {
  it('create what is missing in reference order, with true counts', async () => {
    const server = new FakeServer();
    const { planned, report } = await run(server, FULL);
    expect(planned.summary).toMatchObject({ create: 6, update: 0, remove: 0, none: 0, total: 6 });
    expect(server.writes).toEqual([
      'create organization acme',
      'create provider openai',
      'create provider spare',
      'create model acme/slow',
      'create model acme/fast',
      'create key ci',
    ]);
    expect(report.applied).toHaveLength(6);
    expect([report.failed, report.blocked, report.notRun, report.issued]).toEqual([[], [], [], []]);
    expect(server.secrets).toEqual(
      new Map([
        ['provider openai api_key', CANARY],
        ['key ci value', `${CANARY}-key`],
      ]),
    );
  });

  it(
    verifies(
      'cli.apply.idempotent',
      'write nothing the second time, with secrets, money, durations, sets, trimmed texts and server defaults',
    ),
    async () => {
      const server = new FakeServer();
      await run(server, FULL);
      const { planned } = await run(server, FULL);
      expect(planned.actions.map(({ action }) => action)).toEqual(Array(6).fill('none'));
      expect(planned.actions.flatMap(({ changes }) => changes)).toEqual([]);
      expect(planned.summary.total).toBe(0);
      expect(server.writes).toEqual([]);
    },
  );

  it('send only the changed declared fields, with their leaves and the reason', async () => {
    const server = new FakeServer();
    await run(server, FULL);
    const { planned } = await run(
      server,
      FULL.replace('weight: 2', 'weight: 3').replace('input: 0.15', 'input: 0.2'),
    );
    const [update] = planned.actions.filter(({ action }) => action === 'update');
    expect(update).toMatchObject({
      identity: 'acme/fast',
      reason: 'changed in the configuration',
      changes: [
        { path: 'pricing.input', old: '0.15', new: '0.20' },
        { path: 'routes[0].weight', old: 2, new: 3 },
      ],
    });
    expect(Object.keys(server.bodies.at(-1)!)).toEqual(['pricing', 'routes', 'labels']);
  });

  it('tell a change on the server from a change of the file', async () => {
    const server = new FakeServer();
    await run(server, FULL);
    const model = (await server.list('model')).at(0)!;
    await server.update('model', model.id, {
      body: { routes: [] },
      expectedVersion: model.version,
    });
    const { planned } = await planFor(server, FULL);
    const [update] = planned.actions.filter(({ action }) => action === 'update');
    expect(update).toMatchObject({ identity: 'acme/slow', reason: 'changed on the server' });
  });

  it(
    verifies('cli.plan.no-secrets', 'show secrets by name only, in plans, reports and errors'),
    async () => {
      const server = new FakeServer();
      const { planned, report } = await run(server, FULL);
      const again = await run(server, FULL, { writeSecrets: new Set(['provider/openai#api_key']) });
      server.fault = { on: 'update', name: 'openai', how: 'refused' };
      const failed = await run(server, FULL, {
        writeSecrets: new Set(['provider/openai#api_key']),
      });
      const printed = JSON.stringify([planned, report, again, failed]);
      expect(printed).toContain('${secret:env:OPENAI_API_KEY}');
      expect(printed).not.toContain(CANARY);
      const { desired, server: settings } = await load(FULL);
      expect(JSON.stringify([desired, settings])).not.toContain(CANARY);
    },
  );

  it(
    verifies(
      'cli.apply.write-only',
      'write a secret again only when told to, and one that is missing on the server',
    ),
    async () => {
      const server = new FakeServer();
      await run(server, FULL);
      const { planned } = await run(server, FULL, {
        writeSecrets: new Set(['provider/openai#api_key']),
      });
      expect(server.writes).toEqual(['update provider api_key,labels']);
      expect(planned.summary.update).toBe(1);
      await run(server, FULL.replace('${secret:env:OPENAI_API_KEY}', 'null'));
      expect((await server.list('provider'))[0]).toMatchObject({ api_key_configured: false });
      const restored = await run(server, FULL);
      expect(restored.planned.actions.flatMap(({ changes }) => changes)).toMatchObject([
        {
          path: 'api_key',
          field: 'api_key',
          old: null,
          new: '${secret:env:OPENAI_API_KEY}',
          secret: true,
        },
      ]);
    },
  );

  it(
    verifies('cli.apply.never-deletes', 'remove nothing without prune, and count what would go'),
    async () => {
      const server = new FakeServer();
      await run(server, FULL);
      const { planned, report } = await run(server, 'version: 1\nnamespace: team\nmodels: []\n');
      expect(planned.summary.total).toBe(0);
      expect(names(planned.prunable)).toEqual(['model acme/fast', 'model acme/slow']);
      expect(report.applied).toEqual([]);
      expect(await server.list('model')).toHaveLength(2);
    },
  );

  it(
    verifies(
      'cli.apply.prune-scope',
      'prune only collections that are present and objects of the own namespace',
    ),
    async () => {
      const server = new FakeServer();
      await run(server, FULL);
      await run(server, 'version: 1\nnamespace: other\nproviders: [{name: theirs, type: mock}]\n');
      await server.create('provider', { name: 'by-hand', type: 'mock' });
      const empty = await run(server, 'version: 1\nnamespace: team\n', { mode: 'prune' });
      expect(empty.planned.summary.total).toBe(0);
      const { planned } = await run(
        server,
        'version: 1\nnamespace: team\nproviders: []\nmodels: []\n',
        { mode: 'prune' },
      );
      expect(server.writes).toEqual([
        'delete model acme/fast',
        'delete model acme/slow',
        'delete provider spare',
        'delete provider openai',
      ]);
      expect(planned.confirmPrune).toBe(4);
      expect((await server.list('provider')).map(({ name }) => name)).toEqual([
        'theirs',
        'by-hand',
      ]);
      expect(await server.list('key')).toHaveLength(1);
    },
  );

  it('spare protected objects, disable where lifecycle says so, and revoke keys', async () => {
    const server = new FakeServer();
    const text = `
version: 1
providers:
  - { name: kept, type: mock, lifecycle: { protected: true } }
  - { name: off, type: mock, lifecycle: { prune: disable } }
  - { name: gone, type: mock }
organizations: [{ name: default }]
keys: [{ name: k }]
`;
    await run(server, text);
    const bare = 'version: 1\nproviders: []\nkeys: []\n';
    const { planned } = await run(server, bare, { mode: 'prune' });
    expect(planned.actions.map(({ action, identity }) => `${action} ${identity}`)).toEqual([
      'revoke default/k',
      'disable off',
      'delete gone',
    ]);
    expect(await server.list('provider')).toMatchObject([
      { name: 'kept', enabled: true },
      { name: 'off', enabled: false },
    ]);
    expect(await server.list('key')).toMatchObject([{ enabled: false }]);
    const again = await run(server, bare, { mode: 'prune' });
    expect(again.planned.summary.total).toBe(0);
  });

  it('want a confirmation for more than ten removals or a whole kind', async () => {
    const server = new FakeServer();
    const text = (count: number) =>
      `version: 1\nproviders: [${Array.from({ length: count }, (_, i) => `{name: p${i}, type: mock}`).join()}]`;
    await run(server, text(20));
    const confirm = async (count: number) =>
      (await planFor(server, text(count), { mode: 'prune' })).planned.confirmPrune;
    expect([await confirm(19), await confirm(10), await confirm(9)]).toEqual([null, null, 11]);
    expect(await confirm(0)).toBe(20);
  });

  it('label what they create, adopt what is unowned only when told, leave what others own', async () => {
    const server = new FakeServer();
    await server.create('provider', { name: 'spare', type: 'mock' });
    await run(server, FULL);
    const labels = async (kind: 'provider' | 'model', name: string) =>
      (await server.list(kind)).find((view) => view['name'] === name)?.['labels'];
    expect(await labels('model', 'acme/slow')).toEqual({
      team: 'search',
      'gateway/namespace': 'team',
      'gateway/last-applied': expect.stringMatching(/^[0-9a-f]{16}$/),
      'gateway/applied-fields': expect.stringMatching(/^name=\S{6} routes=\S{6}$/),
    });
    expect(await labels('provider', 'spare')).toEqual({});
    const adopted = await run(server, FULL, { adopt: true });
    expect(adopted.planned.summary.update).toBe(1);
    expect(await labels('provider', 'spare')).toMatchObject({ 'gateway/namespace': 'team' });
    const theirs = await run(server, FULL.replace('namespace: team', 'namespace: thieves'), {
      adopt: true,
      mode: 'prune',
    });
    expect(theirs.planned.summary.total).toBe(0);
    expect(theirs.planned.conflicts).toHaveLength(6);
    expect(theirs.planned.conflicts[0]).toMatchObject({ owner: 'namespace team' });
  });

  it('refuse a stale plan whole, before the first write', async () => {
    const server = new FakeServer();
    await run(server, FULL);
    const changed = FULL.replace('weight: 2', 'weight: 3').replace('type: mock', 'type: vllm');
    const { planned, planning } = await planFor(server, changed.replace('vllm', 'mock'));
    const model = (await server.list('model')).find(({ name }) => name === 'acme/fast')!;
    await server.update('model', model.id, {
      body: { enabled: false },
      expectedVersion: model.version,
    });
    server.writes.length = 0;
    const stale = execute(server, planned, planning);
    await expect(stale).rejects.toThrow(StalePlanError);
    await expect(stale).rejects.toThrow('the plan is stale: model acme/fast');
    expect(server.writes).toEqual([]);
  });

  it('block what depends on a failure, go on elsewhere, prune nothing, and complete the rest on a second run', async () => {
    const server = new FakeServer();
    await run(server, 'version: 1\nnamespace: team\nproviders: [{name: old, type: mock}]\n');
    server.fault = { on: 'create', name: 'spare', how: 'refused' };
    const { report } = await run(server, FULL, { mode: 'prune' });
    expect(names(report.applied)).toEqual(['organization acme', 'provider openai', 'key acme/ci']);
    expect(report.failed).toMatchObject([{ identity: 'spare', reason: 'refused' }]);
    expect(report.blocked).toMatchObject([
      { identity: 'acme/slow', reason: 'waits for provider spare' },
      { identity: 'acme/fast', reason: 'waits for provider spare' },
    ]);
    expect(names(report.notRun)).toEqual(['provider old']);
    server.fault = undefined;
    const second = await run(server, FULL, { mode: 'prune' });
    expect(names(second.report.applied)).toEqual([
      'provider spare',
      'model acme/slow',
      'model acme/fast',
      'provider old',
    ]);
  });

  it('stop between two writes when asked to', async () => {
    const server = new FakeServer();
    const { planned, planning } = await planFor(server, FULL);
    const report = await execute(server, planned, { ...planning, signal: AbortSignal.abort() });
    expect(names(report.notRun)).toHaveLength(6);
    expect(server.writes).toEqual([]);
  });

  it(verifies('cli.apply.ambiguous-create', 'find a creation whose answer was lost'), async () => {
    const server = new FakeServer();
    server.fault = { on: 'create', name: 'acme/slow', how: 'lost' };
    const { report } = await run(server, FULL);
    expect(report.applied).toHaveLength(6);
    expect(await server.list('model')).toHaveLength(2);
    const down = new FakeServer();
    down.fault = { on: 'create', name: 'acme/slow', how: 'down' };
    expect((await run(down, FULL)).report.failed).toMatchObject([{ reason: 'down' }]);
  });

  it(
    verifies('cli.apply.dropped-field', 'report a declared field that does not come back'),
    async () => {
      const server = new FakeServer();
      server.dropped = ['capabilities'];
      const { report } = await run(server, FULL);
      expect(report.failed).toMatchObject([
        { identity: 'acme/fast', reason: 'the server did not keep capabilities' },
      ]);
    },
  );

  it('report two objects of one declared identity instead of choosing', async () => {
    const server = new FakeServer();
    await server.create('provider', { name: 'spare', type: 'mock' });
    const twin = { ...(await server.list('provider')).at(0)!, id: 'prov_twin' };
    const { desired } = await load(FULL);
    const actual = await readActual(server, desired);
    const planned = plan({
      desired,
      actual: { ...actual, provider: [...actual.provider, twin] },
      mode: 'apply',
    });
    expect(planned.ambiguous).toEqual([
      { kind: 'provider', identity: 'spare', ids: ['prov_1', 'prov_twin'] },
    ]);
  });

  it('hand out the value of a key that the server made up, once', async () => {
    const server = new FakeServer();
    const text = 'version: 1\norganizations: [{name: default}]\nkeys: [{name: fresh}]\n';
    const { report } = await run(server, text);
    expect(report.issued).toEqual([{ identity: 'default/fresh', value: 'sk-made-up' }]);
    expect((await run(server, text)).report.issued).toEqual([]);
  });

  it('list all missing secrets before anything is written', async () => {
    const { desired } = await load(FULL);
    const { diagnostics } = await resolveAllSecrets(desired, { env: {}, files: memoryFiles({}) });
    expect(diagnostics.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '8 ${secret:env:OPENAI_API_KEY}: the environment variable OPENAI_API_KEY is not set',
      '26 ${secret:env:CI_KEY}: the environment variable CI_KEY is not set',
    ]);
  });
});

describe('plan and apply, for any two configurations', () => {
  const provider = fc.record({
    name: fc.constantFrom('p0', 'p1', 'p2'),
    type: fc.constant('mock'),
    enabled: fc.boolean(),
    timeouts: fc.option(fc.record({ idle: fc.constantFrom(30, '30s', '2m') })),
  });
  const model = fc.record(
    {
      name: fc.constantFrom('a/0', 'a/1', 'a/2', 'a/3'),
      capabilities: fc.uniqueArray(fc.constantFrom('tools', 'vision', 'audio')),
      max_output_tokens: fc.option(fc.integer({ min: 1, max: 9 })),
      pricing: fc.option(fc.record({ input: fc.constantFrom(1, '1.0', '0.25') })),
      fallbacks: fc.uniqueArray(fc.constantFrom('a/0', 'a/1', 'a/2', 'a/3')),
      routes: fc.array(fc.record({ provider: fc.constantFrom('p0', 'p1', 'p2') }), {
        maxLength: 2,
      }),
    },
    { requiredKeys: ['name', 'fallbacks', 'routes'] },
  );
  const configuration = fc
    .record({
      providers: fc.uniqueArray(provider, { selector: ({ name }) => name }),
      models: fc.uniqueArray(model, { selector: ({ name }) => name }),
    })
    .map(({ providers, models }) => ({
      version: 1,
      namespace: 'team',
      providers,
      // Only references that exist, and only to models that come earlier: no cycles.
      models: models.map((one, index) => ({
        ...one,
        fallbacks: one.fallbacks.filter((name) =>
          models.slice(0, index).some((other) => other.name === name),
        ),
        routes: one.routes.filter(({ provider: name }) =>
          providers.some((other) => other.name === name),
        ),
      })),
    }));

  it('reach the declared state from any other, touch nothing unowned, and are then done', async () => {
    await fc.assert(
      fc.asyncProperty(configuration, configuration, async (before, after) => {
        const server = new FakeServer();
        await server.create('provider', { name: 'unowned', type: 'mock' });
        await server.create('model', { name: 'un/owned', routes: [{ provider: 'unowned' }] });
        const untouched = async () =>
          JSON.stringify(
            [...(await server.list('provider')), ...(await server.list('model'))].filter(
              ({ name }) => String(name).startsWith('un'),
            ),
          );
        const kept = await untouched();
        await run(server, JSON.stringify(before), { mode: 'prune' });
        const { report } = await run(server, JSON.stringify(after), { mode: 'prune' });
        expect([report.failed, report.blocked, report.notRun]).toEqual([[], [], []]);
        const { planned } = await planFor(server, JSON.stringify(after), { mode: 'prune' });
        expect(planned.summary.total).toBe(0);
        expect(await untouched()).toBe(kept);
        const present = (await server.list('model')).map(({ name }) => String(name)).toSorted();
        expect(present).toEqual(['un/owned', ...after.models.map(({ name }) => name)].toSorted());
      }),
      { numRuns: 30 },
    );
  });
});
