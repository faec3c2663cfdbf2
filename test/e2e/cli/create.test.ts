import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { runCli, type CliRun } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

/** Value behind `env:UPSTREAM_KEY`; no output may have it. */
const SECRET = 'upstream-secret-value';

const SKILL = '---\nname: owned\ndescription: Knows.\n---\nReview.\n';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** Runs a command in this process; `test/cli/binary.test.ts` proves that the program is the same. */
function cli(...argv: string[]): Promise<CliRun> {
  const env = { ...adminEnv(gateway), UPSTREAM_KEY: SECRET };
  return runCli([...argv, '--yes'], { cwd: gateway.directory, env });
}

async function view(collection: string, name: string): Promise<any> {
  const { body } = await gateway.admin('GET', `/admin/v1/${collection}?limit=100`);
  return body.data.find((one: { name: string }) => one.name === name);
}

/** Command lines that make one object each, in an order in which they can refer to each other. */
const MADE: readonly (readonly [string, readonly string[]])[] = [
  ['organizations', ['research', '--spending-limit.month', '500', '--label', 'team=core']],
  [
    'providers',
    ['echo', '--kind', 'mock', '--api-key', 'env:UPSTREAM_KEY', '--timeouts.idle', '90s'],
  ],
  ['models', ['acme/fast', '--route', 'echo', '--route', 'echo=slow', '--pricing.input', '0.25']],
  [
    'apis',
    ['weather', '--base-url', 'https://weather.example', '--methods', 'GET', '--enabled', 'false'],
  ],
  ['agents', ['helper', '--model', 'acme/fast', '--system', 'Be brief.', '--metadata', 'a=b']],
  ['services', ['Helper', '--slug', 'helper', '--agent', 'helper', '--protocols', 'rest']],
  ['schedules', ['report', '--cron', '0 7 * * 1-5', '--agent', 'helper', '--message', 'Write it.']],
];

interface Fault {
  path: string;
  severity: string;
  message: string;
  hint?: string;
}

const byPath = (a: Fault, b: Fault): number => (a.path < b.path ? -1 : 1);

const MESSAGE = { type: 'user.message', content: [{ type: 'text', text: 'x' }] };

/** Flags with a fault, and the entry of a file that has the same. */
const FAULTY: readonly (readonly [string, readonly string[], object])[] = [
  ['models', ['--strategy', 'fast'], { strategy: 'fast' }],
  ['models', ['--context-window', 'many'], { context_window: 'many' }],
  ['models', ['--set', 'contxt_window=5'], { contxt_window: 5 }],
  ['models', ['--enabled', 'yes'], { enabled: 'yes' }],
  [
    'models',
    ['--route', 'echo', '--set', 'routes[0].wieght=5'],
    { routes: [{ provider: 'echo', wieght: 5 }] },
  ],
  ['providers', [], {}],
  ['providers', ['--kind', 'opnai'], { type: 'opnai' }],
  ['providers', ['--kind', 'mock', '--set', 'mock.x=1'], { type: 'mock', mock: { x: 1 } }],
  ['apis', ['--base-url', 'nowhere'], { base_url: 'nowhere' }],
  ['organizations', ['--spending-limit', 'much'], { spending_limit: 'much' }],
  [
    'deployments',
    ['--cron', 'daily', '--runtime.model', 'acme/fast', '--message', 'x'],
    {
      schedule: { type: 'cron', expression: 'daily', timezone: 'UTC' },
      runtime: { model: 'acme/fast' },
      initial_events: [MESSAGE],
    },
  ],
];

describe('create', () => {
  it.each(MADE)(
    verifies(
      'cli.create.from-flags',
      'cli.create.print-yaml',
      '%s makes what its -o yaml declares: a plan of that shows no change',
    ),
    async (group, words) => {
      const printed = await cli(group, 'create', ...words, '-o', 'yaml');
      expect(printed, printed.stderr).toMatchObject({ code: 0 });
      const collection = group === 'schedules' ? 'deployments' : group;
      expect(Object.keys(parse(printed.stdout))).toEqual(['version', collection]);
      expect(await view(collection, words[0] ?? '')).toBeUndefined();

      const made = await cli(group, 'create', ...words, '-o', 'json');
      expect(made, made.stderr).toMatchObject({ code: 0 });
      expect(made.stdout + made.stderr + printed.stdout).not.toContain(SECRET);
      expect(made.json().data.labels).not.toHaveProperty('gateway/namespace');
      await writeFile(join(gateway.directory, 'made.yaml'), printed.stdout);
      const plan = await cli('plan', '-f', 'made.yaml', '--exit-code', '-o', 'json');
      expect(plan.json().data.summary, plan.stdout).toMatchObject({ total: 0, none: 1 });
      expect(plan.code).toBe(0);

      const again = await cli(group, 'add', ...words);
      expect([again.code, again.stdout]).toEqual([5, '']);
      expect(again.stderr).toMatch(
        new RegExp(`${words[0]} exists already .*\n.*gateway ${group} update`),
      );
    },
  );

  it(
    verifies(
      'cli.create.print-yaml',
      'keys, Credentials and Skills make what their -o yaml declares',
    ),
    async () => {
      const folder = join(gateway.directory, 'review');
      await mkdir(folder);
      const head = SKILL.replace('owned', 'review').replace('Review.', 'Say ${env:HOME}.');
      await writeFile(join(folder, 'SKILL.md'), head);
      await writeFile(join(folder, 'logo.png'), Buffer.from([0x89, 0x50, 0xff]));
      const secret = ['--agent', 'helper', '--scope-name', 'shop', '--secret-key', 'token'];
      for (const words of [
        [
          'keys',
          'create',
          'ci',
          '--rpm-cap',
          '9',
          '--spending-limit-day',
          '2',
          '--scope',
          'models',
        ],
        ['keys', 'update', 'ci', '--clear', 'rpm-cap', '--label', 'team=core'],
        ['credentials', 'create', 'shop', ...secret, '--value-env', 'UPSTREAM_KEY'],
        ['credentials', 'update', 'shop', '--weight', '4'],
        ['skills', 'create', 'review', '--display-name', 'Reviews'],
        ['skills', 'update', 'review', 'review'],
      ]) {
        const line = words.join(' ');
        const before = await view(words[0] ?? '', words[2] ?? '');
        const printed = await cli(...words, '-o', 'yaml');
        expect([printed.code, printed.stderr], line).toEqual([0, '']);
        expect(printed.stdout).not.toContain(SECRET);
        expect(await view(words[0] ?? '', words[2] ?? ''), line).toEqual(before);
        expect(await cli(...words), line).toMatchObject({ code: 0 });
        await writeFile(join(gateway.directory, 'made.yaml'), printed.stdout);
        const env = { ...adminEnv(gateway), UPSTREAM_KEY: SECRET, CREDENTIAL_SHOP_VALUE: SECRET };
        const argv = ['plan', '-f', 'made.yaml', '-o', 'json'];
        const plan = await runCli(argv, { cwd: gateway.directory, env });
        expect(plan.json().data.summary, `${line}: ${plan.stdout}`).toMatchObject({
          total: 0,
          none: 1,
        });
      }
    },
  );

  it('fills in what the short flags stand for', async () => {
    expect(await view('models', 'acme/fast')).toMatchObject({
      routes: [{ provider: 'echo' }, { provider: 'echo', upstream_model: 'slow' }],
      pricing: { input: '0.25' },
    });
    expect(await view('deployments', 'report')).toMatchObject({
      schedule: { type: 'cron', expression: '0 7 * * 1-5', timezone: 'UTC' },
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Write it.' }] }],
      agent: { id: (await view('agents', 'helper')).id },
    });
    const answer = await gateway.chat('acme/fast');
    expect(answer.status).toBe(200);
  });

  it.each(FAULTY)(
    verifies(
      'cli.create.from-flags',
      '%s create a %j tells what validate tells of the file, and makes nothing',
    ),
    async (group, words, entry) => {
      const tree = { version: 1, [group]: [{ name: 'a', ...entry }] };
      await writeFile(join(gateway.directory, 'same.yaml'), stringify(tree));
      const file = await cli('validate', '-f', 'same.yaml', '-o', 'json');
      const expected = file.json().data.diagnostics.map((one: Fault) => ({
        ...(one.hint !== undefined && { hint: one.hint }),
        message: one.message,
        path: one.path.replace(`${group}[0].`, ''),
        severity: one.severity,
      }));
      expect(expected).not.toEqual([]);
      const refused = await cli(group, 'create', 'a', ...words, '-o', 'json');
      expect([refused.code, file.code]).toEqual([3, 3]);
      expect(refused.json().data.diagnostics.toSorted(byPath)).toEqual(expected.toSorted(byPath));
      expect(await view(group, 'a')).toBeUndefined();
    },
  );

  it('shows a fault as a line with its hint, and prints no YAML of it', async () => {
    const words = ['providers', 'create', 'a', '--kind', 'opnai'];
    const [fault] = (await cli(...words, '-o', 'json')).json().data.diagnostics as Fault[];
    const shown = await cli(...words);
    expect([shown.code, shown.stdout]).toEqual([3, '']);
    expect(shown.stderr).toContain(`error: ${fault?.path}: ${fault?.message}`);
    expect(fault?.hint).toBeDefined();
    expect(shown.stderr).toContain(fault?.hint);
    expect((await cli(...words, '-o', 'yaml')).stdout).toBe('');
  });

  it.each([
    ['models', ['--route', 'ehco'], 'routes[0].provider: no provider is named ehco', 'echo'],
    ['services', ['--protocols', 'rest', '--agent', 'hleper'], 'no agent is named hleper', ''],
  ])(
    verifies('cli.create.from-flags', '%s create %j refuses names that nothing has'),
    async (group, words, ...said) => {
      const refused = await cli(group, 'create', 'a', ...words);
      expect([refused.code, refused.stdout], refused.stderr).toEqual([3, '']);
      for (const text of said) expect(refused.stderr).toContain(text);
      expect(await view(group, 'a')).toBeUndefined();
    },
  );

  it.each([
    [['models', 'create'], 'the model needs a name'],
    [['models', 'create', 'a', '--set', 'routes'], '--set must be PATH=VALUE'],
    [['models', 'create', 'a', '--set', '..=1'], 'no path'],
    [['models', 'create', 'a', '--set', '__proto__.x=1'], 'no path'],
    [['models', 'create', 'a', '--set', 'routes[3].provider=echo'], 'the list has 0 items'],
    [['models', 'create', 'a', '--set', 'lifecycle.protected=true'], 'gateway.yaml alone'],
    [['models', 'create', 'a', '--routes', '[{'], '--routes cannot be read as YAML'],
    [['models', 'create', 'a', '-f', 'absent.yaml'], 'absent.yaml cannot be read'],
    [['models', 'create', 'a', '--rout', 'echo'], "unknown option '--rout'"],
    [['models', 'update', 'acme/fast'], 'nothing to change'],
    [['providers', 'create', 'a', '--kind', 'mock', '--headers', 'x'], 'must be KEY=VALUE'],
  ])('takes %j for a mistake of the command line', async (words, message) => {
    const refused = await cli(...words);
    expect([refused.code, refused.stdout], refused.stderr).toEqual([64, '']);
    expect(refused.stderr).toContain(message);
  });

  it('lets a model fall back to one that is there, and to no other', async () => {
    const fallback = ['models', 'create', 'acme/safe', '--route', 'echo', '--fallbacks'];
    const refused = await cli(...fallback, 'acme/none');
    expect(refused.code, refused.stderr).not.toBe(0);
    expect(refused.stderr).toContain('acme/none');
    expect(await view('models', 'acme/safe')).toBeUndefined();
    expect(await cli(...fallback, 'acme/fast')).toMatchObject({ code: 0 });
    expect(await view('models', 'acme/safe')).toMatchObject({ fallbacks: ['acme/fast'] });
    const loop = await cli('models', 'update', 'acme/safe', '--fallbacks', 'acme/safe');
    expect([loop.code, loop.stdout]).toEqual([3, '']);
    expect(loop.stderr).toContain('fallbacks[0]: the fallbacks form a cycle');
  });

  it('takes the name of a secret and never its value', async () => {
    const words = ['create', 'a', '--kind', 'mock', '--api-key'];
    const refused = await cli('providers', ...words, SECRET);
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain('never its value');
    expect(refused.stderr).not.toContain(SECRET);
    const unset = await cli('providers', ...words, 'env:NO_SUCH_KEY');
    expect(unset.code).toBe(3);
    expect(unset.stderr).toContain('NO_SUCH_KEY is not set');
    expect(await view('providers', 'a')).toBeUndefined();
  });

  it('takes a body of fields, or a document as -o yaml prints it; flags win', async () => {
    await writeFile(
      join(gateway.directory, 'body.yaml'),
      'routes: [{ provider: echo }]\ntype: image\n',
    );
    const words = ['models', 'create', 'acme/body', '-f', 'body.yaml', '--type', 'llm'];
    const printed = await cli(...words, '-o', 'yaml');
    expect(parse(printed.stdout)).toEqual({
      version: 1,
      models: [{ name: 'acme/body', routes: [{ provider: 'echo' }], type: 'llm' }],
    });
    await writeFile(join(gateway.directory, 'document.yaml'), printed.stdout);
    expect(await cli('models', 'create', '-f', 'document.yaml')).toMatchObject({ code: 0 });
    expect(await view('models', 'acme/body')).toMatchObject({ model_type: 'llm' });
    const other = await cli('models', 'create', 'acme/other', '-f', 'document.yaml');
    expect(other).toMatchObject({ code: 64 });
  });
});

/** Command lines that change what was made above. */
const CHANGED: readonly (readonly [string, readonly string[], object])[] = [
  [
    'organizations',
    ['research', '--credit', '100', '--label', 'team-'],
    { credit: '100.00', labels: {} },
  ],
  ['providers', ['echo', '--set', 'headers["x-one"]=1'], { headers: { 'x-one': '1' } }],
  ['models', ['acme/fast', '--set', 'routes[1].weight=3', '--clear', 'pricing'], { pricing: null }],
  ['apis', ['weather', '--enabled', 'true', '--paths', '/now'], { enabled: true, paths: ['/now'] }],
  ['agents', ['helper', '--model.effort', 'high'], {}],
  [
    'services',
    ['Helper', '--protocols', 'rest', '--protocols', 'mcp'],
    { protocols: ['rest', 'mcp'] },
  ],
  ['schedules', ['report', '--cron', '30 6 * * *'], {}],
];

describe('update', () => {
  it.each(CHANGED)(
    verifies(
      'cli.create.from-flags',
      'cli.create.print-yaml',
      '%s changes what is named alone, as its -o yaml declares',
    ),
    async (group, words, expected) => {
      const collection = group === 'schedules' ? 'deployments' : group;
      const name = words[0] ?? '';
      const before = await view(collection, name);
      const printed = await cli(group, 'update', ...words, '-o', 'yaml');
      expect(printed, printed.stderr).toMatchObject({ code: 0 });
      expect(await view(collection, name)).toEqual(before);
      const changed = await cli(group, 'update', ...words);
      expect(changed, changed.stderr).toMatchObject({ code: 0 });
      expect(changed.stdout).toMatch(/ is changed\n$/);
      const after = await view(collection, name);
      expect(after).toMatchObject(expected);
      expect(after.version).toBe(before.version + 1);
      await writeFile(join(gateway.directory, 'changed.yaml'), printed.stdout);
      const env = await cli('plan', '-f', 'changed.yaml', '-o', 'json');
      expect(env.json().data.summary, env.stdout).toMatchObject({ total: 0, none: 1 });
      const again = await cli(group, 'update', ...words);
      expect(again.stdout).toMatch(/ is so already\n$/);
      expect((await view(collection, name)).version).toBe(after.version);
    },
  );

  it('keeps what is not named', async () => {
    expect(await view('models', 'acme/fast')).toMatchObject({
      routes: [{ provider: 'echo' }, { provider: 'echo', upstream_model: 'slow', weight: 3 }],
    });
    expect(await view('providers', 'echo')).toMatchObject({ api_key_configured: true });
    const { model } = await view('agents', 'helper');
    expect(model).toMatchObject({ id: 'acme/fast', effort: { type: 'high' } });
  });

  it('renames, and tells of what is not there', async () => {
    expect(await cli('models', 'update', 'acme/body', '--name', 'acme/renamed')).toMatchObject({
      code: 0,
    });
    expect(await view('models', 'acme/body')).toBeUndefined();
    const absent = await cli('models', 'update', 'acme/body', '--type', 'llm');
    expect(absent.code).toBe(1);
    expect(absent.stderr).toContain('there is no model "acme/body"');
  });

  it('refuses faults as a file is refused, and changes nothing', async () => {
    const before = await view('models', 'acme/fast');
    const refused = await cli('models', 'update', 'acme/fast', '--set', 'routes[0].provider=ehco');
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(
      /routes\[0\]\.provider: no provider is named ehco\n +hint: .*echo/,
    );
    const far = await cli('models', 'update', 'acme/fast', '--set', 'routes[0].provider=elsewhere');
    expect(far.stderr).toMatch(/no provider is named elsewhere\n +hint: known: (?!.*prov_).*echo/);
    expect(await view('models', 'acme/fast')).toEqual(before);
  });

  it(
    verifies(
      'cli.create.from-flags',
      'changes what a namespace owns with --force alone, and says whose it is',
    ),
    async () => {
      const owned = {
        version: 1,
        namespace: 'team',
        providers: [{ name: 'owned', type: 'mock' }],
        agents: [{ name: 'owned', model: 'acme/fast' }],
        skills: [{ name: 'owned', files: { 'SKILL.md': SKILL } }],
      };
      await writeFile(join(gateway.directory, 'team.yaml'), stringify(owned));
      expect(await cli('apply', '-f', 'team.yaml')).toMatchObject({ code: 0 });
      const change = ['providers', 'update', 'owned', '--header-spelling', 'native'];
      const label = { labels: { 'gateway/namespace': 'team' } };
      const before = await view('providers', 'owned');
      expect(before).toMatchObject(label);
      const refused = await cli(...change);
      expect([refused.code, refused.stdout]).toEqual([5, '']);
      expect(refused.stderr).toMatch(/provider owned .* belongs to the namespace team\n.*--force/);
      expect(await view('providers', 'owned')).toEqual(before);
      const skill = ['skills', 'update', 'owned', 'review'];
      expect(await cli(...skill)).toMatchObject({ code: 5, stdout: '' });
      expect(await cli(...skill, '--force')).toMatchObject({ code: 0 });
      // The inventory knows it when somebody took the label away.
      await gateway.admin('PATCH', `/admin/v1/providers/${before.id}`, { labels: {} });
      const again = await cli(...change);
      expect(again.code).toBe(5);
      expect(again.stderr).toContain('belongs to the namespace team');
      expect(await cli(...change, '--label', 'by=hand', '--force')).toMatchObject({ code: 0 });
      expect(await view('providers', 'owned')).toMatchObject({ header_spelling: 'native' });
      const forced = [
        'agents',
        'update',
        'owned',
        '--system',
        'x',
        '--label',
        'by=hand',
        '--force',
      ];
      expect(await cli(...forced)).toMatchObject({ code: 0 });
      expect((await view('agents', 'owned')).labels).toMatchObject({ ...label.labels, by: 'hand' });
    },
  );
});
