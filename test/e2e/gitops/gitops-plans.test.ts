import { writeFile } from 'node:fs/promises';
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
  const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey, KEY: 'secret-1' };
  return runCli(argv, { cwd, env });
}

async function withFile(tree: object, ...argv: string[]): Promise<CliRun> {
  const file = { version: 1, namespace: 'plans', ...tree };
  await writeFile(join(cwd, 'team.yaml'), JSON.stringify(file));
  const [command = '', ...flags] = argv;
  return cli(command, '-f', 'team.yaml', ...flags);
}

async function applied(tree: object, ...flags: string[]): Promise<void> {
  const done = await withFile(tree, 'apply', '--yes', ...flags);
  expect([done.code, done.stderr]).toEqual([0, expect.not.stringContaining('error:')]);
}

async function named(collection: string, name: string) {
  const { body } = await gateway.admin('GET', `/admin/v1/${collection}?limit=100`);
  return body.data.find((one: { name: string }) => one.name === name);
}

const providers = [{ name: 'echo', type: 'mock' }];
const agent = (name: string, more: object = {}) => ({ name, model: 'echo/x', ...more });
const go = [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }];

describe('a plan tells', () => {
  it(verifies('cli.plan.rebind-shown', 'the pause and the unpause around a rebind'), async () => {
    const tree = (bound: string) => ({
      agents: [agent('one'), agent('two')],
      deployments: [
        {
          name: 'nightly',
          agent_id: `\${ref:agent.${bound}.id}`,
          initial_events: go,
          schedule: { type: 'cron', expression: '0 7 * * *', timezone: 'UTC' },
        },
      ],
    });
    await applied(tree('one'));
    const { stdout } = await withFile(tree('two'), 'plan');
    const [, told = ''] = /update schedule default\/nightly([\s\S]*)/.exec(stdout) ?? [];
    expect(told).toMatch(/"active" → "paused"[\s\S]*agent_id: [\s\S]*"paused" → "active"/);
    const { actions } = (await withFile(tree('two'), 'plan', '-o', 'json')).json().data;
    expect(actions.at(-1)).toMatchObject({ steps: ['pause', 'update', 'unpause'] });
  });

  it(
    verifies(
      'cli.plan.member-changes',
      'cli.plan.prunable-named',
      'changes member by member, and the names of what could be pruned',
    ),
    async () => {
      const text = Array.from({ length: 40 }, (_, line) => `Line ${line} of the instructions.`);
      const tree = (routes: object[], lines: string[]) => ({
        providers,
        models: [{ name: 't/a', routes }],
        agents: [agent('helper', { model: 't/a', system: lines.join('\n') })],
      });
      const routes = ['a', 'b', 'c'].map((upstream_model) => ({
        provider: 'echo',
        upstream_model,
      }));
      await applied({
        ...tree(routes, text),
        models: [...tree(routes, text).models, { name: 't/old', routes }],
      });
      const [first, ...others] = routes;
      const more = { ...first, upstream_model: 'd', weight: 3 };
      const { stdout } = await withFile(
        tree([...others, more], text.with(7, 'Line 7 says something else.')),
        'plan',
      );
      expect(stdout).toContain('routes[0].upstream_model: "a" → "b"');
      expect(stdout).not.toMatch(/\[\{|→ \{/);
      expect(stdout).toMatch(/- Line 7 of the instructions\.\n +\+ Line 7 says something else\./);
      expect(stdout).toContain('39 more lines are the same');
      expect(stdout).toMatch(/--prune removes it:\n +model t\/old/);
      const inserted = await withFile(tree([more, ...routes], text), 'plan');
      expect(inserted.stdout).toContain('routes[0].weight: null → 3');
      expect(inserted.stdout).not.toContain('routes[1]');
    },
  );

  it(
    verifies('cli.plan.dangling-reference', 'a reference that leads nowhere, with its position'),
    async () => {
      for (const tree of [
        { services: [{ name: 's', agent_id: '${ref:agent.nobody.id}', protocols: ['rest'] }] },
        { models: [{ name: 't/a', routes: [{ provider: 'nobody' }] }] },
      ]) {
        for (const command of [['plan'], ['apply', '--yes']]) {
          const { code, stderr } = await withFile(tree, ...command);
          expect([code, stderr]).toEqual([3, expect.stringMatching(/team\.yaml:1:\d+.*nobody/)]);
        }
      }
      expect(await named('models', 't/a')).toBeUndefined();
    },
  );

  it(verifies('cli.plan.new-key-told', 'that the value of a new key is shown once'), async () => {
    const { stdout } = await withFile({ keys: [{ name: 'ci' }] }, 'plan');
    expect(stdout).toContain('its value is made at apply and shown once');
    const given = await withFile({ keys: [{ name: 'ci', value: '${secret:env:KEY}' }] }, 'plan');
    expect(given.stdout).not.toContain('shown once');
  });

  it('that a secret is written because it was asked for', async () => {
    const tree = { providers: [{ name: 'up', type: 'openai', api_key: '${secret:env:KEY}' }] };
    await applied(tree);
    const { stdout } = await withFile(tree, 'plan', '--write-secret', 'provider/up#api_key');
    expect(stdout).toContain('update provider up  (its secret is written again, as asked for)');
  });

  it(
    verifies('cli.plan.apply-command', 'the whole command that applies what it saved'),
    async () => {
      await applied({ keys: [{ name: 'one' }, { name: 'two' }] });
      await writeFile(join(cwd, 'over lay.yaml'), '{keys: [{name: two, rpm_cap: 3}]}');
      const planned = await withFile(
        { keys: [{ name: 'two' }] },
        'plan',
        '--overlay',
        'over lay.yaml',
        '--prune',
        '--out',
        'my plan.json',
      );
      expect([planned.code, planned.stderr]).toEqual([0, expect.stringContaining('apply it with')]);
      const [, command = ''] = /apply it with `gateway (.*)`/.exec(planned.stderr) ?? [];
      expect(command).toBe(
        "apply --plan 'my plan.json' --file team.yaml --overlay 'over lay.yaml' --confirm-prune 1",
      );
      const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, a, b]) => a ?? b ?? '');
      const done = await cli(...words);
      expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('2 applied, 0 failed')]);
    },
  );

  it(
    verifies('cli.apply.stale-plan.fields', 'the members that changed since, and no old values'),
    async () => {
      const tree = (weight: number) => ({
        providers,
        models: [{ name: 't/a', description: 'mine', routes: [{ provider: 'echo', weight }] }],
      });
      await applied(tree(1));
      await withFile(tree(2), 'plan', '--out', 'p.json');
      const { id } = await named('models', 't/a');
      await gateway.admin('PATCH', `/admin/v1/models/${id}`, { description: 'stolen' });
      const refused = await cli('apply', '-f', 'team.yaml', '--plan', 'p.json', '--yes');
      expect([refused.code, refused.stderr]).toEqual([
        5,
        expect.stringContaining('model t/a (description changed since'),
      ]);
      expect(refused.stdout + refused.stderr).not.toContain('→');
    },
  );
});

describe('one name', () => {
  const service = (name: string, more: object = {}) => ({
    name,
    slug: 'desk',
    protocols: ['rest'],
    runtime: { type: 'agent', model: 'echo/x' },
    ...more,
  });

  it(
    verifies('cli.apply.rename.slug-collision', 'that holds a slug leads to `moved`'),
    async () => {
      await applied({ services: [service('old')] });
      const { id } = await named('services', 'old');
      const renamed = { services: [service('new')] };
      const planned = await withFile(renamed, 'plan');
      expect([planned.code, planned.stderr]).toEqual([0, expect.stringContaining('moved: [')]);
      const refused = await withFile(renamed, 'apply', '--yes');
      expect([refused.code, refused.stderr]).toEqual([
        5,
        expect.stringMatching(
          new RegExp(`slug desk belongs to service default/old \\(${id}\\).*moved: \\[`, 's'),
        ),
      ]);
      const [, entry = ''] = /`moved: (\[.*\])`/.exec(refused.stderr) ?? [];
      const moved = [{ kind: 'service', from: 'old', to: 'new' }];
      expect(entry).toBe('[{ kind: service, from: "old", to: "new" }]');
      await applied({ ...renamed, moved });
      expect(await named('services', 'new')).toMatchObject({ id, slug: 'desk' });
    },
  );

  it(
    verifies('cli.apply.same-name-by-id', 'of two objects needs the id of the one that is meant'),
    async () => {
      const make = async () => (await gateway.admin('POST', '/v1/agents', agent('twin'))).body.id;
      const [first, second] = [await make(), await make()];
      const tree = (more: object) => ({
        agents: [agent('twin', { description: 'mine', ...more })],
      });
      const refused = await withFile(tree({}), 'plan');
      expect(refused.code).toBe(5);
      for (const word of [first, second, '`id:`']) expect(refused.stderr).toContain(word);
      const lost = await withFile(tree({ id: 'agent_nobody' }), 'plan');
      expect([lost.code, lost.stderr]).toEqual([5, expect.stringContaining('agent_nobody')]);
      await applied(tree({ id: second }), '--adopt');
      const views = (await gateway.admin('GET', '/admin/v1/agents')).body.data;
      const told = (id: string) => views.find((one: { id: string }) => one.id === id).description;
      expect([told(first), told(second)]).toEqual([null, 'mine']);
      expect((await withFile(tree({ id: second }), 'plan', '--exit-code')).code).toBe(0);
      // Both are of the namespace by now; only the one that is meant goes.
      await applied(tree({ id: first }), '--adopt');
      expect((await withFile(tree({ id: second }), 'delete', '--yes')).code).toBe(0);
      const left = (await gateway.admin('GET', '/admin/v1/agents')).body.data;
      expect(left.map(({ id }: { id: string }) => id)).toEqual([first]);
    },
  );
});

describe('a selection', () => {
  const model = (name: string, more: object = {}) => ({
    name,
    routes: [{ provider: 'echo' }],
    ...more,
  });
  const names = async (...flags: string[]) => {
    const { code, stdout, stderr, json } = await cli(
      'plan',
      '-f',
      'team.yaml',
      '-o',
      'json',
      ...flags,
    );
    expect([code, stderr], stdout).toEqual([0, '']);
    const { actions } = json().data as { actions: { action: string; identity: string }[] };
    return actions.map(({ action, identity }) => `${action} ${identity}`);
  };

  it(
    verifies(
      'cli.select.only-exclude',
      'limits plan, apply, drift and delete, and prune touches nothing outside it',
    ),
    async () => {
      const tree = (...more: object[]) => ({ providers, models: [model('t/a'), ...more] });
      const red = { labels: { team: 'red' } };
      const all = tree(model('t/b', red), model('u/c', red));
      const missing = await withFile(all, 'apply', '--yes', '--only', 'model/u/c');
      expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining('named echo')]);
      await applied(all, '--only', 'provider/echo');
      expect(await names('--only', 'model/t/*')).toEqual(['create t/a', 'create t/b']);
      expect(await names('--only', 'models', '--exclude', 'model/t/b')).toEqual([
        'create t/a',
        'create u/c',
      ]);
      expect(await names('-l', 'team=red', '--only', 'model/t/b')).toEqual(['create t/b']);
      await applied(all, '--only', 'model/t/a');
      expect(await named('models', 'u/c')).toBeUndefined();
      await applied(all);
      const fewer = { providers, models: [model('u/d')] };
      const pruned = await withFile(
        fewer,
        'apply',
        '--yes',
        '--prune',
        '--only',
        'model/t/*',
        '-l',
        'team=red',
      );
      expect([pruned.code, pruned.stdout]).toEqual([0, expect.stringContaining('1 applied')]);
      expect(await named('models', 't/b')).toBeUndefined();
      expect(await named('models', 't/a')).toBeDefined();
      expect(await named('models', 'u/c')).toBeDefined();
      // A label of the server alone makes nothing removable that the files declare.
      const { id, labels } = await named('models', 't/a');
      const patch = { labels: { ...labels, team: 'red' } };
      await gateway.admin('PATCH', `/admin/v1/models/${id}`, patch);
      await withFile(tree(model('u/c', red)), 'validate');
      expect(await names('--prune', '-l', 'team=red')).toEqual(['none u/c']);
      const chosen = tree(model('u/c', red));
      const drifted = await withFile(chosen, 'drift', '--exit-code', '--only', 'model/u/c');
      expect(drifted.code).toBe(0);
      const left = ['--exclude', 'model/t/a', '--exclude', 'provider'];
      expect((await withFile(chosen, 'delete', '--yes', ...left)).code).toBe(0);
      expect(await named('models', 'u/c')).toBeUndefined();
      expect(await named('models', 't/a')).toBeDefined();
      expect(await named('providers', 'echo')).toBeDefined();
    },
  );

  it('tells of a word that means nothing', async () => {
    const tree = { providers, models: [model('t/a')] };
    for (const [flags, told] of [
      [['--only', 'modell/t/a'], 'no kind is named modell'],
      [['--only', 'model/t/b'], 'did you mean model/t/a?'],
      [['-l', 'team'], 'expected label=value'],
    ] as const) {
      const { code, stderr } = await withFile(tree, 'plan', ...flags);
      expect([code, stderr]).toEqual([64, expect.stringContaining(told)]);
    }
  });
});
