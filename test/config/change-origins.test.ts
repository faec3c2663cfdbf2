import { describe, expect, it } from 'vitest';
import { apply, readActual } from '../../src/config/apply/apply.ts';
import { formatDiagnostics } from '../../src/config/source/diagnostic.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { ownerFor, plan, type PlanOptions } from '../../src/config/plan/plan.ts';
import { verifies } from '../requirements.ts';
import { FakeServer } from './fake-server.ts';
import { memoryFiles } from './memory-files.ts';

const FILE = `
version: 1
namespace: team
organizations: [{ name: default }]
models:
  - { name: a/one, description: first, enabled: true, routes: [{ provider: p }] }
  - { name: a/two, description: second, routes: [{ provider: p }] }
providers: [{ name: p, type: mock }]
agents:
  - { name: helper, model: a/one }
services:
  - { name: desk, agent_id: "\${ref:agent.helper.id}", protocols: [rest] }
`;

async function desiredOf(text: string) {
  const { config, diagnostics } = await loadConfig({
    paths: ['/gw/gateway.yaml'],
    env: {},
    cwd: '/gw',
    files: memoryFiles({ '/gw/gateway.yaml': text }),
  });
  if (config === undefined) throw new Error(formatDiagnostics(diagnostics, 'text'));
  return config.desired;
}

async function planned(server: FakeServer, text: string, options: Partial<PlanOptions> = {}) {
  const desired = await desiredOf(text);
  const planning: PlanOptions = {
    desired,
    actual: await readActual(server, desired),
    mode: 'apply',
    ...options,
  };
  return { planning, made: plan(planning) };
}

async function run(server: FakeServer, text: string, parallelism = 1) {
  const { planning, made } = await planned(server, text);
  server.writes.length = 0;
  const report = await apply({
    plan: made,
    desired: planning.desired,
    owner: ownerFor(planning),
    client: server,
    secrets: new Map(),
    pause: async () => {},
    parallelism,
  });
  return { made, report };
}

async function edit(server: FakeServer, name: string, body: object) {
  const kind = 'model';
  const view = (await server.list(kind)).find((one) => one['name'] === name)!;
  await server.update(kind, view.id, {
    body: body as Record<string, unknown>,
    expectedVersion: view.version,
  });
}

const changesOf = ({ actions }: ReturnType<typeof plan>) =>
  actions.flatMap(({ identity, reason, changes }) =>
    changes.map(({ path, origin }) => `${identity} ${path} ${origin} (${reason})`),
  );

describe('the origin of a difference', () => {
  it(
    verifies(
      'cli.drift',
      'is the server, the configuration or both, told field by field since the last apply',
    ),
    async () => {
      const server = new FakeServer();
      await run(server, FILE);
      await edit(server, 'a/one', { description: 'by hand', enabled: false });
      const edited = FILE.replace('second', 'second edition').replace(
        'first, enabled: true',
        'first edition, enabled: true',
      );
      expect(changesOf((await planned(server, edited)).made)).toEqual([
        'a/one description both (changed in the configuration and on the server)',
        'a/one enabled server (changed in the configuration and on the server)',
        'a/two description configuration (changed in the configuration)',
      ]);
      await run(server, edited);
      expect((await planned(server, edited)).made.summary.total).toBe(0);
    },
  );
});

describe('the order of a set', () => {
  const inOrder = (one: string, other: string) => `
version: 1
namespace: team
organizations: [{ name: default }]
providers:
  - { name: p, type: mock, models: [${one}, ${other}], drop_betas: [${one}, ${other}], refuse_betas: [${other}, ${one}], quirks: { chat: { drop: [${one}, ${other}] } } }
budgets:
  - { name: b, organization: default, amount: 5, per: day, match: { models: [${one}, ${other}] } }
agents:
  - name: helper
    model: p/x
    tools: [{ type: agent_toolset_20260401, configs: [{ name: web_fetch, allowed_domains: [${one}, ${other}] }] }]
`;

  it(verifies('cli.drift', 'is no change, in the files or on the server'), async () => {
    const server = new FakeServer();
    await run(server, inOrder('x', 'y'));
    const other = inOrder('y', 'x');
    expect(changesOf((await planned(server, other)).made)).toEqual([]);
    expect((await planned(server, other)).made.summary.total).toBe(0);
    const less = inOrder('x', 'z');
    expect(changesOf((await planned(server, less)).made)).not.toEqual([]);
  });
});

describe('what no update can change', () => {
  it(
    verifies(
      'cli.plan.replace-reason',
      'makes a new object, and the plan names the field that forces it',
    ),
    async () => {
      const server = new FakeServer();
      await run(server, FILE);
      const [before] = await server.list('service');
      const declarative = FILE.replace(
        'agent_id: "${ref:agent.helper.id}"',
        'runtime: { type: agent, model: a/one }',
      );
      const { made } = await planned(server, declarative);
      expect(made.actions.at(-1)).toMatchObject({
        action: 'replace',
        id: before?.id,
        forcedBy: ['runtime'],
        reason: 'runtime cannot be changed: it gets a new id',
      });
      expect(made.summary).toMatchObject({ replace: 1, update: 0, total: 1 });
      const { report } = await run(server, declarative);
      expect(server.writes).toEqual(['delete service desk', 'create service desk']);
      const [after] = await server.list('service');
      expect(report.applied).toMatchObject([{ action: 'replace', id: after?.id }]);
      expect(after?.id).not.toBe(before?.id);
      expect((await planned(server, declarative)).made.summary.total).toBe(0);
    },
  );
});

describe('an object that moves', () => {
  it(
    verifies('cli.apply.rename', 'is renamed in place; without the entry it is made anew'),
    async () => {
      const server = new FakeServer();
      await run(server, FILE);
      const [before] = (await server.list('model')).filter(({ name }) => name === 'a/two');
      const renamed = FILE.replace('a/two', 'a/second');
      const anew = (await planned(server, renamed)).made;
      expect(anew.summary).toMatchObject({ create: 1, total: 1 });
      expect(anew.prunable).toEqual([{ kind: 'model', identity: 'a/two', id: before?.id }]);
      const moved = `${renamed}moved: [{ kind: model, from: a/two, to: a/second }]\n`;
      const { made } = await planned(server, moved);
      expect(made.prunable).toEqual([]);
      expect(made.actions.filter(({ action }) => action !== 'none')).toMatchObject([
        { identity: 'a/second', action: 'update', id: before?.id, reason: 'renamed from a/two' },
      ]);
      await run(server, moved);
      const models = await server.list('model');
      expect(models.find(({ name }) => name === 'a/second')?.id).toBe(before?.id);
      expect((await planned(server, moved)).made.summary.total).toBe(0);
    },
  );

  it('is refused while both names exist', async () => {
    const server = new FakeServer();
    await run(server, FILE);
    const text = FILE.replace('a/two', 'a/second');
    await run(server, text);
    const { made } = await planned(
      server,
      `${text}moved: [{ kind: model, from: a/two, to: a/second }]\n`,
    );
    expect(made.ambiguous).toMatchObject([
      { identity: 'a/second', ids: [expect.any(String), expect.any(String)] },
    ]);
  });

  it.each([
    ['from is still declared', 'from: a/one, to: a/two', 'a/one is still declared'],
    ['to is not declared', 'from: a/nine, to: a/ten', 'a/ten is not declared'],
  ])('is an error when %s', async (_what, names, message) => {
    await expect(desiredOf(`${FILE}moved: [{ kind: model, ${names} }]\n`)).rejects.toThrow(message);
  });
});

describe('writes at once', () => {
  it('begin what refers to nothing open, at most so many', async () => {
    const server = new FakeServer();
    let running = 0;
    let most = 0;
    const { create } = server;
    server.create = async (...made) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      await Promise.resolve();
      try {
        return await create.apply(server, made);
      } finally {
        running--;
      }
    };
    const { report } = await run(server, FILE, 3);
    expect(report.applied).toHaveLength(6);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(3);
    const at = (what: string) => server.writes.indexOf(`create ${what}`);
    expect(at('provider p')).toBeLessThan(at('model a/one'));
    expect(at('agent helper')).toBeLessThan(at('service desk'));
  });

  it('are tried again after 429 and 503, within bounds', async () => {
    const server = new FakeServer();
    const answers = [429, 503, 503];
    const { create } = server;
    server.create = async (...made) => {
      const status = answers.shift();
      if (status !== undefined) throw Object.assign(new Error('busy'), { status });
      return create.apply(server, made);
    };
    const { report } = await run(server, 'version: 1\nproviders: [{ name: p, type: mock }]\n');
    expect(report.failed).toEqual([]);
    expect(report.applied).toHaveLength(1);
    answers.push(503, 503, 503, 503, 503);
    const more = await run(
      server,
      'version: 1\nproviders: [{ name: p, type: mock }, { name: q, type: mock }]\n',
    );
    expect(more.report.failed).toMatchObject([{ identity: 'q', reason: 'busy' }]);
    expect(answers).toEqual([503]);
  });
});
