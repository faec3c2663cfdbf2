import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
let cwd: string;
beforeEach(async () => {
  [gateway, cwd] = await Promise.all([startGateway(), emptyDirectory()]);
});
afterEach(() => gateway.stop());

function cli(...argv: string[]): Promise<CliRun> {
  const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
  return runCli(argv, { cwd, env });
}

const write = (text: string, name = 'team.yaml') => writeFile(join(cwd, name), text);

/** Runs a command on the declaration. */
async function withFile(text: string, ...argv: string[]): Promise<CliRun> {
  await write(text);
  const [command = '', ...flags] = argv;
  return cli(command, '-f', 'team.yaml', ...flags);
}

async function applied(text: string, ...flags: string[]): Promise<CliRun> {
  const done = await withFile(text, 'apply', '--yes', '-o', 'json', ...flags);
  expect([done.code, done.stderr]).toEqual([0, expect.not.stringContaining('error')]);
  return done;
}

async function drift(text: string) {
  const { code, json } = await withFile(text, 'drift', '--exit-code', '-o', 'json');
  const { drifted } = json().data as { drifted: { what: string; identity: string }[] };
  return { code, drifted: drifted.map(({ what, identity }) => `${what} ${identity}`) };
}

async function named(collection: string, name: string) {
  const { body } = await gateway.admin('GET', `/admin/v1/${collection}?limit=100`);
  return body.data.find((one: { name: string }) => one.name === name);
}

const change = (collection: string, id: string, body: object) =>
  gateway.admin('PATCH', `/admin/v1/${collection}/${id}`, body);

/** Models of one namespace, each with members of its own. */
const models = (...members: string[]) =>
  `version: 1\nnamespace: trust\nproviders: [{ name: echo, type: mock }]\nmodels:\n${members
    .map((one) => `  - { ${one}, routes: [{ provider: echo }] }\n`)
    .join('')}`;
const keys = (...names: string[]) =>
  `version: 1\nnamespace: trust\nkeys: [${names.map((name) => `{ name: ${name} }`).join()}]\n`;

describe('lifecycle', () => {
  it(
    verifies(
      'cli.plan.lifecycle-managed',
      'cli.apply.protected-added',
      'is a field like others: shown, applied, and taken away',
    ),
    async () => {
      const all = ['name: t/a', 'name: t/b', 'name: t/c'] as const;
      await applied(models(...all));
      const kept = models(
        'name: t/a, lifecycle: { protected: true }',
        'name: t/b, lifecycle: { prune: disable }',
        all[2],
      );
      const planned = await withFile(kept, 'plan');
      expect(planned.stdout).toContain('lifecycle.protected: null → true');
      expect(planned.stdout).toContain('lifecycle.prune: null → "disable"');
      await applied(kept);
      expect((await withFile(kept, 'plan', '--exit-code')).code).toBe(0);
      await applied(models(all[2]), '--prune');
      expect(await named('models', 't/a')).toMatchObject({ enabled: true });
      expect(await named('models', 't/b')).toMatchObject({ enabled: false });
      await applied(models(...all));
      expect((await named('models', 't/a')).labels).not.toHaveProperty('gateway/protected');
      await applied(models(all[2]), '--prune');
      expect(await named('models', 't/a')).toBeUndefined();
      expect(await named('models', 't/b')).toBeUndefined();
    },
  );

  it(
    verifies('cli.delete.protected-by-file', 'keeps what the file or the server protects'),
    async () => {
      const plain = models('name: t/a', 'name: t/b');
      await applied(plain);
      const kept = models('name: t/a, lifecycle: { protected: true }', 'name: t/b');
      const byFile = await withFile(kept, 'delete', '--yes');
      expect([byFile.code, byFile.stderr]).toEqual([
        5,
        expect.stringContaining('protected, so nothing was removed: model t/a'),
      ]);
      await applied(kept);
      const byServer = await withFile(plain, 'delete', '--yes');
      expect([byServer.code, byServer.stderr]).toEqual([5, expect.stringContaining('model t/a')]);
      expect([await named('models', 't/a'), await named('models', 't/b')]).not.toContain(undefined);
      await applied(plain);
      expect((await withFile(plain, 'delete', '--yes')).code).toBe(0);
      expect(await named('models', 't/a')).toBeUndefined();
    },
  );

  it(
    verifies('cli.apply.ignore-changes', 'keeps what the server has at the named paths'),
    async () => {
      const text = (rpm: number, weight: number, paths: string) =>
        `version: 1\nnamespace: trust\nproviders: [{ name: echo, type: mock }]\nkeys: [{ name: k, rpm_cap: ${rpm}, labels: { team: a, tier: x }, lifecycle: { ignore_changes: [rpm_cap, labels.team] } }]\nmodels: [{ name: t/a, routes: [{ provider: echo, weight: ${weight} }], lifecycle: { ignore_changes: [${paths}] } }]\n`;
      const path = 'routes[0].weight';
      const quoted = JSON.stringify(path);
      await applied(text(10, 1, quoted));
      const [key, model] = [await named('keys', 'k'), await named('models', 't/a')];
      await change('keys', key.id, { rpm_cap: 77, labels: { ...key.labels, team: 'b' } });
      await change('models', model.id, { routes: [{ ...model.routes[0], weight: 5 }] });
      expect(await drift(text(10, 1, quoted))).toEqual({ code: 0, drifted: [] });
      expect((await withFile(text(11, 2, quoted), 'plan', '--exit-code')).code).toBe(0);
      const other = text(11, 2, quoted)
        .replace('provider: echo, weight', 'provider: echo, priority: 3, weight')
        .replace('tier: x', 'tier: y');
      await applied(other);
      expect(await named('models', 't/a')).toMatchObject({ routes: [{ weight: 5, priority: 3 }] });
      expect(await named('keys', 'k')).toMatchObject({
        rpm_cap: 77,
        labels: { team: 'b', tier: 'y' },
      });
      await applied(other.replace('rpm_cap: 11, ', ''));
      expect(await named('keys', 'k')).toMatchObject({ rpm_cap: 77 });
      const wrong = await withFile(text(1, 1, 'rout'), 'plan');
      expect([wrong.code, wrong.stderr]).toEqual([
        3,
        expect.stringMatching(/team\.yaml:5:\d+.*no field rout/s),
      ]);
    },
  );
});

describe('removals', () => {
  it(
    verifies(
      'cli.apply.prune-confirm.namespace',
      'cli.apply.prune-confirm.irreversible',
      'are confirmed by the number of the namespace, for ever ones from the first',
    ),
    async () => {
      await applied(keys('one', 'two', 'three'));
      const first = await withFile(keys('one', 'two'), 'apply', '--yes', '--prune');
      expect([first.code, first.stderr]).toEqual([
        64,
        expect.stringContaining('--confirm-prune 1'),
      ]);
      const wrong = await withFile(
        keys('one', 'two'),
        'apply',
        '--yes',
        '--prune',
        '--confirm-prune',
        '2',
      );
      expect(wrong.code).toBe(64);
      await applied(keys('one', 'two'), '--prune', '--confirm-prune', '1');
      const all = await withFile(keys(), 'apply', '--yes', '--prune');
      expect([all.code, all.stderr]).toEqual([
        64,
        expect.stringMatching(/key default\/one.*--confirm-prune 2/s),
      ]);
      expect(await named('keys', 'one')).toMatchObject({ revoked_at: null });
      await applied(keys(), '--prune', '--confirm-prune', '2');
      expect(await named('keys', 'two')).not.toMatchObject({ revoked_at: null });
      // Models come back when they are declared again: their number is asked for the last one alone.
      await applied(models('name: t/a', 'name: t/b'));
      await applied(models('name: t/a'), '--prune');
      const last = await withFile(
        models().replace('models:', 'models: []'),
        'apply',
        '--yes',
        '--prune',
      );
      expect([last.code, last.stderr]).toEqual([64, expect.stringContaining('--confirm-prune 1')]);
    },
  );

  it('need no number where the lifecycle allows them', async () => {
    const allowed = keys('one').replace('name: one', 'name: one, lifecycle: { prune: delete }');
    await applied(allowed.replace(']', ', { name: two }]'));
    await applied(keys('two'), '--prune');
    expect(await named('keys', 'one')).not.toMatchObject({ revoked_at: null });
  });
});

describe('a saved plan', () => {
  const edit = async (change: (plan: { actions: Record<string, unknown>[] }) => void) => {
    const file = JSON.parse(await readFile(join(cwd, 'p.json'), 'utf8'));
    change(file.plan);
    await write(JSON.stringify(file), 'edited.json');
    return cli('apply', '-f', 'team.yaml', '--yes', '--plan', 'edited.json');
  };

  it(verifies('cli.plan.digest', 'is refused when it was edited, and says where'), async () => {
    await applied(models('name: t/a', 'name: t/b'));
    await withFile(models('name: t/a'), 'plan', '--prune', '--out', 'p.json');
    const id = (await named('models', 't/a')).id;
    const other = await edit(({ actions }) => Object.assign(actions.at(-1)!, { id }));
    expect([other.code, other.stderr]).toEqual([
      5,
      expect.stringMatching(/edited after it was made: delete model t\/b says something else/),
    ]);
    const version = await edit(({ actions }) => Object.assign(actions.at(-1)!, { version: 99 }));
    expect(version.code).toBe(5);
    const renamed = await edit(({ actions }) =>
      Object.assign(actions.at(-1)!, { identity: 't/a' }),
    );
    expect([renamed.code, renamed.stderr]).toEqual([
      5,
      expect.stringContaining('is delete model t/a instead of delete model t/b'),
    ]);
    expect(await named('models', 't/b')).toBeDefined();
    expect((await cli('apply', '-f', 'team.yaml', '--yes', '--plan', 'p.json')).code).toBe(0);
  });

  it(
    verifies('cli.plan.ownership-rechecked', 'never touches what another namespace owns'),
    async () => {
      await applied(models('name: t/a', 'name: t/b'));
      await withFile(models('name: t/a'), 'plan', '--prune', '--out', 'p.json');
      // Another namespace takes the object over, version and all.
      const { id } = await named('models', 't/b');
      const { body } = await gateway.admin('GET', '/admin/v1/inventories');
      const [own] = body.data;
      const objects = own.objects.filter((one: { id: string }) => one.id !== id);
      await change('inventories', own.id, { objects });
      const taken = { kind: 'model', identity: 't/b', id };
      await gateway.admin('POST', '/admin/v1/inventories', { name: 'other', objects: [taken] });
      const refused = await cli('apply', '-f', 'team.yaml', '--yes', '--plan', 'p.json');
      expect([refused.code, refused.stderr]).toEqual([
        5,
        expect.stringContaining('belongs to namespace other'),
      ]);
      expect(await named('models', 't/b')).toBeDefined();
    },
  );
});

describe('the inventory', () => {
  it(
    verifies('cli.inventory.kept', 'says what a namespace owns and declared, and is written once'),
    async () => {
      const text = models('name: t/a, labels: { team: x }', 'name: t/b');
      await applied(text);
      const read = async () => (await gateway.admin('GET', '/admin/v1/inventories')).body.data[0];
      const first = await read();
      const { id } = await named('models', 't/a');
      expect(first).toMatchObject({ name: 'trust', managed: { provider: '', model: '' } });
      expect(first.objects).toContainEqual({
        kind: 'model',
        identity: 't/a',
        id,
        fields: 'labels:team name routes',
      });
      await applied(text);
      expect((await read()).version).toBe(first.version);
      await applied(models('name: t/a'), '--prune');
      expect((await read()).objects.map(({ identity }: { identity: string }) => identity)).toEqual([
        't/a',
        'echo',
      ]);
    },
  );

  it(
    verifies(
      'cli.drift.deleted',
      'tells what was deleted, changed, and added by hand to a managed collection',
    ),
    async () => {
      const text = models('name: t/a', 'name: t/b', 'name: t/c');
      await gateway.admin('POST', '/admin/v1/models', {
        name: 'by/hand',
        routes: [{ provider: 'mock' }],
      });
      await applied(text);
      expect(await drift(text)).toEqual({ code: 0, drifted: [] });
      const [a, b] = [await named('models', 't/a'), await named('models', 't/b')];
      await gateway.admin('DELETE', `/admin/v1/models/${a.id}`);
      await change('models', b.id, { enabled: false, display_name: 'mine', routes: [] });
      await gateway.admin('POST', '/admin/v1/models', {
        name: 'late/hand',
        routes: [{ provider: 'echo' }],
      });
      expect(await drift(text)).toEqual({
        code: 2,
        drifted: ['changed t/b', 'deleted t/a', 'added late/hand'],
      });
      expect((await withFile(text, 'plan')).stdout).toContain(
        'create model t/a  (deleted on the server)',
      );
      await applied(text);
      expect(await drift(text)).toMatchObject({ drifted: ['added late/hand'] });
    },
  );

  it('tells of a key that was revoked by hand', async () => {
    await applied(keys('one', 'two'));
    const { id } = await named('keys', 'one');
    await change('keys', id, { enabled: false });
    expect(await drift(keys('one', 'two'))).toEqual({ code: 2, drifted: ['deleted default/one'] });
  });

  it(
    verifies(
      'cli.apply.field-removed',
      'cli.apply.field-never-declared',
      'resets what is no longer declared, and leaves what never was',
    ),
    async () => {
      const full = `version: 1\nnamespace: trust\nproviders: [{ name: echo, type: mock, headers: { x-a: "1" } }]\nkeys: [{ name: k, rpm_cap: 10, allowed_models: [t/a], spending_limit: 5, labels: { team: a, tier: x } }]\n`;
      await applied(full);
      const key = await named('keys', 'k');
      const labels = { ...key.labels, theirs: 'kept' };
      await change('keys', key.id, { expires_at: '2099-01-01T00:00:00Z', labels });
      const bare = `version: 1\nnamespace: trust\nproviders: [{ name: echo, type: mock }]\nkeys: [{ name: k, labels: { tier: x } }]\n`;
      const planned = await withFile(bare, 'plan');
      expect(planned.stdout).toContain('rpm_cap: 10 → null  (no longer declared)');
      expect(planned.stdout).toContain('labels["team"]: "a" → null  (no longer declared)');
      await applied(bare);
      const after = await named('keys', 'k');
      expect(after).toMatchObject({ rpm_cap: null, allowed_models: null, spending_limit: null });
      expect(after).toMatchObject({
        expires_at: expect.stringMatching(/^2099/),
        labels: { tier: 'x', theirs: 'kept' },
      });
      expect(after.labels).not.toHaveProperty('team');
      expect(await named('providers', 'echo')).toMatchObject({ headers: {} });
      expect((await withFile(bare, 'plan', '--exit-code')).code).toBe(0);
      // What is set by hand afterwards was never declared since.
      await change('keys', after.id, { rpm_cap: 3 });
      expect((await withFile(bare, 'plan', '--exit-code')).code).toBe(0);
    },
  );

  it(
    verifies(
      'cli.inventory.migrated',
      'cli.inventory.unknown-not-reset',
      'begins with the labels of earlier releases, and resets nothing that they do not know',
    ),
    async () => {
      const text = keys('one', 'two')
        .replace('name: one', 'name: one, rpm_cap: 4')
        .replace('name: two', 'name: two, rpm_cap: 4');
      await applied(text);
      const { body } = await gateway.admin('GET', '/admin/v1/inventories');
      await gateway.admin('DELETE', `/admin/v1/inventories/${body.data[0].id}`);
      const two = await named('keys', 'two');
      const { 'gateway/applied-fields': _fields, ...labels } = two.labels;
      await change('keys', two.id, { labels });
      const bare = keys('one', 'two');
      const planned = await withFile(bare, 'plan');
      expect(planned.stdout).toContain('rpm_cap: 4 → null  (no longer declared)');
      expect(planned.stdout).toMatch(/not known what was declared before.*key default\/two/s);
      await applied(bare);
      expect(await named('keys', 'one')).toMatchObject({ rpm_cap: null });
      expect(await named('keys', 'two')).toMatchObject({ rpm_cap: 4 });
      expect((await withFile(bare, 'plan')).stdout).not.toContain('not known');
      const found = (await gateway.admin('GET', '/admin/v1/inventories')).body.data[0];
      expect(found.objects).toHaveLength(2);
    },
  );
});
