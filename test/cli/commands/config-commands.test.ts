import { EventEmitter } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFakeServer, type FakeServer } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { createFakeAdmin, type FakeAdmin } from '../fake-admin.ts';
import { runCli } from '../run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';

const CANARY = 'canary-secret-7f3a';
const CONFIG = `version: 1
providers:
  - name: upstream
    type: openai
    api_key: \${secret:env:UPSTREAM_KEY}
models:
  - name: acme/fast
    description: quick
    routes:
      - provider: upstream
        upstream_model: fast-1
`;

let cwd: string;
let server: FakeServer | undefined;
beforeEach(async () => {
  cwd = await emptyDirectory();
});
afterEach(() => server?.close());

async function project(text = CONFIG) {
  await writeFile(join(cwd, 'gateway.yaml'), text);
}
async function against(admin: FakeAdmin = createFakeAdmin()) {
  server = await startFakeServer(admin.handler);
  const { url, calls } = server;
  const env = { GATEWAY_SERVER: url, GATEWAY_API_KEY: 'sk-x', UPSTREAM_KEY: CANARY };
  const run = (...argv: string[]) => runCli(argv, { cwd, env });
  // The comparison of secrets writes nothing.
  const writes = () =>
    calls.filter(
      ({ method, path }) => method !== 'GET' && !path.endsWith('/configuration/secrets'),
    );
  return { run, writes, ...admin };
}

describe('validate', () => {
  it(
    verifies('cli.validate.offline', 'exits 0 for a valid file and 3 with every problem at once'),
    async () => {
      await project(`${CONFIG}        pricing: free\n`);
      expect(await runCli(['validate'], { cwd })).toMatchObject({
        code: 0,
        stdout: 'gateway.yaml: valid\n',
      });
      await project(
        CONFIG.replace('provider: upstream', 'provider: nowhere').replace(
          'description:',
          'descripton:',
        ),
      );
      const invalid = await runCli(['validate'], { cwd });
      expect(invalid.code).toBe(3);
      expect(invalid.stdout).toContain('nowhere');
      expect(invalid.stdout).toContain('descripton');
      expect(invalid.stderr).toContain('2 errors');
    },
  );

  it(
    verifies('cli.validate.position', 'gives the same positions as text, JSON and annotations'),
    async () => {
      await project(CONFIG.replace('provider: upstream', 'provider: nowhere'));
      const text = await runCli(['validate'], { cwd });
      const json = await runCli(['validate', '-o', 'json'], { cwd });
      const github = await runCli(['validate', '-o', 'github'], { cwd });
      expect([text.code, json.code, github.code]).toEqual([3, 3, 3]);
      const { line, column, path } = json.json().data.diagnostics[0];
      expect(path).toBe('models[0].routes[0].provider');
      expect(text.stdout).toContain(`gateway.yaml:${line}:${column}: error: ${path}: `);
      expect(github.stdout).toContain(
        `::error file=gateway.yaml,line=${line},col=${column}::${path}: `,
      );
      expect(line).toBe(10);
    },
  );

  it('reads stdin for -', async () => {
    const { code } = await runCli(['validate', '-f', '-'], { cwd, stdin: CONFIG });
    expect(code).toBe(0);
  });

  it('refuses -o github elsewhere', async () => {
    expect((await runCli(['keys', 'list', '-o', 'github'], { cwd })).code).toBe(64);
  });
});

describe('an empty directory', () => {
  it.each(['validate', 'plan', 'apply'])('%s tells how to begin, exit 3', async (name) => {
    const nothing = await runCli([name], { cwd });
    expect(nothing).toMatchObject({ code: 3, stdout: '' });
    expect(nothing.stderr).toBe(
      `error: there is no gateway.yaml in ${cwd}\nhint: \`gateway init\` writes one that runs offline\n`,
    );
  });
});

describe('schema', () => {
  it('prints a JSON Schema', async () => {
    const schema = JSON.parse((await runCli(['schema'])).stdout);
    expect(schema.properties).toHaveProperty('models');
  });
});

describe('plan, diff and apply', () => {
  it(
    verifies(
      'cli.plan.read-only',
      'plan sends GET requests alone and shows each change with its reason',
    ),
    async () => {
      await project();
      const { run, writes } = await against();
      const planned = await run('plan');
      expect(planned.code).toBe(0);
      expect(planned.stdout).toContain('+ create provider upstream');
      expect(planned.stdout).toContain('+ create model acme/fast');
      expect(planned.stdout).toContain('2 to create');
      expect(writes()).toEqual([]);
      await run('apply', '--yes');
      await project(CONFIG.replace('quick', 'quicker'));
      const changed = await run('plan');
      expect(changed.stdout).toContain('description: "quick" → "quicker"');
      expect(changed.stdout).toContain('changed in the configuration');
    },
  );

  it(
    verifies('cli.diff', 'diff and apply --dry-run show what plan shows and write nothing'),
    async () => {
      await project();
      const { run, writes } = await against();
      const plan = (await run('plan', '--json')).json().data;
      expect((await run('diff', '--json')).json().data).toEqual(plan);
      expect((await run('apply', '--dry-run', '--json')).json().data).toEqual(plan);
      expect((await run('diff')).stdout).toBe((await run('apply', '--dry-run')).stdout);
      expect(writes()).toEqual([]);
    },
  );

  it(
    verifies('apply.references-offline', 'know a model that only the gateway has, and miss none'),
    async () => {
      const { run, resources } = await against();
      const made = { id: 'model_9', type: 'model', name: 'acme/made', version: 1, labels: {} };
      resources['models']?.push(made);
      await project(`${CONFIG}agents: [{ name: bot, model: acme/made }]\n`);
      expect((await runCli(['validate'], { cwd })).code).toBe(3);
      expect((await run('validate', '--online')).code).toBe(0);
      expect((await run('plan')).code).toBe(0);
      await project(`${CONFIG}agents: [{ name: bot, model: acme/gone }]\n`);
      const missing = await run('plan');
      expect(missing.code).toBe(3);
      expect(missing.stderr).toContain(
        'error: agent default/bot: model: no model is named acme/gone',
      );
    },
  );

  it(verifies('cli.diff.exit-code', 'exit 2 for changes with --exit-code alone'), async () => {
    await project();
    const { run } = await against();
    for (const command of ['plan', 'diff']) {
      expect((await run(command)).code).toBe(0);
      expect((await run(command, '--exit-code')).code).toBe(2);
    }
    await run('apply', '--yes');
    for (const command of ['plan', 'diff'])
      expect((await run(command, '--exit-code')).code).toBe(0);
    await project('models: 5');
    expect((await run('plan', '--exit-code')).code).toBe(3);
  });

  it(
    verifies(
      'cli.apply.creates-and-updates',
      'creates what is missing and patches the changed fields',
    ),
    async () => {
      await project();
      const { run, writes, resources } = await against();
      const first = await run('apply', '--yes');
      expect(first.code).toBe(0);
      expect(first.stdout).toMatch(
        /^done +create provider upstream\ndone +create model acme\/fast\n2 applied, 0 failed/,
      );
      expect(resources['models']?.[0]).toMatchObject({ name: 'acme/fast', description: 'quick' });
      await project(CONFIG.replace('quick', 'quicker'));
      const second = await run('apply', '--yes', '--json');
      expect(second.json().data.applied).toHaveLength(1);
      const patch = writes().at(-1);
      expect(patch?.method).toBe('PATCH');
      expect(patch?.body).toMatchObject({ description: 'quicker', expected_version: 1 });
      expect(patch?.body).not.toHaveProperty('routes');
    },
  );

  it(verifies('cli.apply.idempotent', 'a second apply writes nothing'), async () => {
    await project();
    const { run, writes } = await against();
    await run('apply', '--yes');
    const before = writes().length;
    const second = await run('apply', '--yes');
    expect(second.code).toBe(0);
    expect(second.stdout).toContain('no changes');
    expect(writes()).toHaveLength(before);
  });

  it(
    verifies('cli.apply.all-pages', 'sees 250 objects at 100 a page and makes no second one'),
    async () => {
      const models = Array.from(
        { length: 250 },
        (_, n) => `  - name: acme/m${n}\n    routes: []\n`,
      );
      await project(`version: 1\nmodels:\n${models.join('')}`);
      const { run, writes, resources } = await against();
      expect((await run('apply', '--yes')).code).toBe(0);
      expect(resources['models']).toHaveLength(250);
      const made = writes().length;
      expect((await run('apply', '--yes')).stdout).toContain('no changes');
      expect(writes()).toHaveLength(made);
    },
  );

  it(
    verifies(
      'cli.apply.confirm',
      'needs --yes where nobody can be asked, names the target, exit 64',
    ),
    async () => {
      await project();
      const { run, writes } = await against();
      const refused = await run('apply');
      expect(refused.code).toBe(64);
      expect(refused.stderr).toContain(`target: ${server?.url} (all organizations)`);
      expect(writes()).toEqual([]);
    },
  );

  it(
    verifies(
      'cli.apply.never-deletes',
      'removes nothing without --prune and says how much it would',
    ),
    async () => {
      await project();
      const { run, writes, resources } = await against();
      await run('apply', '--yes');
      await project(`${CONFIG.slice(0, CONFIG.indexOf('models:'))}models: []\n`);
      const kept = await run('apply', '--yes');
      expect(kept.stdout).toContain('1 no longer declared; --prune removes it');
      expect(writes().every(({ method }) => method !== 'DELETE')).toBe(true);
      expect(resources['models']).toHaveLength(1);
      const asked = await run('apply', '--yes', '--prune');
      expect(asked.code).toBe(64);
      expect(asked.stderr).toContain('--confirm-prune 1');
      expect((await run('apply', '--yes', '--prune', '--confirm-prune', '1')).code).toBe(0);
      expect(resources['models']).toHaveLength(0);
    },
  );

  it('a partial failure exits 6, and the same command completes the rest', async () => {
    const more = `${CONFIG}  - name: acme/slow\n    routes: []\n`;
    await project(more);
    let broken = true;
    const { run } = await against(
      createFakeAdmin({ refuse: (name) => broken && name === 'upstream' }),
    );
    const partial = await run('apply', '--yes', '--json');
    expect(partial.code).toBe(6);
    const names = (list: { identity: string }[]) => list.map(({ identity }) => identity);
    const { data } = partial.json();
    expect(names(data.applied)).toEqual(['acme/slow']);
    expect(names(data.failed)).toEqual(['upstream']);
    expect(names(data.blocked)).toEqual(['acme/fast']);
    broken = false;
    expect((await run('apply', '--yes')).code).toBe(0);
    expect((await run('plan', '--exit-code')).code).toBe(0);
  });

  it(
    verifies('cli.apply.secret-preflight', 'a missing secret exits 3 before the first write'),
    async () => {
      await project();
      const { writes } = await against();
      const env = { GATEWAY_SERVER: server?.url ?? '', GATEWAY_API_KEY: 'sk-x' };
      const refused = await runCli(['apply', '--yes'], { cwd, env });
      expect(refused.code).toBe(3);
      expect(refused.stderr).toContain('UPSTREAM_KEY');
      expect(writes()).toEqual([]);
    },
  );

  it(
    verifies('cli.plan.no-secrets', 'shows a secret in no output, text, JSON or debug'),
    async () => {
      await project();
      const { run, writes } = await against();
      let seen = '';
      for (const argv of [
        ['plan'],
        ['plan', '--json'],
        ['diff', '--debug'],
        ['apply', '--yes', '--debug'],
        ['plan', '--write-secret', 'provider/upstream#api_key'],
      ]) {
        const { stdout, stderr } = await run(...argv);
        seen += stdout + stderr;
      }
      expect(JSON.stringify(writes().map(({ body }) => body))).toContain(CANARY);
      expect(seen).toContain('api_key');
      expect(seen).not.toContain(CANARY);
    },
  );

  it(
    verifies('cli.apply.ambiguous-name', 'two objects of one declared name exit 5 with both ids'),
    async () => {
      await project();
      const admin = createFakeAdmin();
      admin.resources['providers']?.push(
        { id: 'prov_a', type: 'provider', name: 'upstream', version: 1, labels: {} },
        { id: 'prov_b', type: 'provider', name: 'upstream', version: 1, labels: {} },
      );
      const { run, writes } = await against(admin);
      const refused = await run('apply', '--yes');
      expect(refused.code).toBe(5);
      expect(refused.stderr).toContain('prov_a, prov_b');
      expect(writes()).toEqual([]);
    },
  );
});

describe('progress of an apply', () => {
  it('is a line on stderr for each object, on a terminal and without --quiet', async () => {
    await project();
    const { run, resources } = await against();
    const words = ['apply', '--yes'];
    const env = { GATEWAY_SERVER: server?.url ?? '', GATEWAY_API_KEY: 'x', UPSTREAM_KEY: CANARY };
    const shown = await runCli(words, { cwd, env, tty: true });
    expect(shown.stderr).toMatch(
      /\[1\/2\] done +create provider upstream\n\[2\/2\] done +create model acme\/fast\n/,
    );
    resources['models']?.splice(0);
    expect((await runCli([...words, '-q'], { cwd, env, tty: true })).stderr).not.toContain('[1/1]');
    resources['models']?.splice(0);
    expect((await run(...words)).stderr).not.toContain('[1/1]');
  });
});

describe('interrupted apply', () => {
  it(
    verifies(
      'cli.signal.sigint',
      'finishes the write in flight, tells applied and pending, exits 130',
    ),
    async () => {
      await project();
      const signals = new EventEmitter();
      const admin = createFakeAdmin();
      server = await startFakeServer((call, res) => {
        if (call.method === 'POST') signals.emit('SIGINT');
        return admin.handler(call, res);
      });
      const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-x', UPSTREAM_KEY: CANARY };
      const exits: number[] = [];
      const onExit = (code: number) => exits.push(code);
      const run = await runCli(['apply', '--yes'], { cwd, env, signals, onExit });
      expect(run.code).toBe(130);
      expect(run.stdout).toMatch(
        /done +create provider upstream\nnot run create model acme\/fast\n1 applied/,
      );
      expect(admin.resources['models']).toEqual([]);
      expect(exits).toEqual([]);
      const again = await runCli(['apply', '--yes'], { cwd, env });
      expect(again.code).toBe(0);
    },
  );

  it('a second signal ends it at once', async () => {
    await project();
    const signals = new EventEmitter();
    const admin = createFakeAdmin();
    server = await startFakeServer((call, res) => {
      if (call.method === 'POST') for (const _ of [1, 2]) signals.emit('SIGINT');
      return admin.handler(call, res);
    });
    const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-x', UPSTREAM_KEY: CANARY };
    const exits: number[] = [];
    await runCli(['apply', '--yes'], { cwd, env, signals, onExit: (code) => exits.push(code) });
    expect(exits[0]).toBe(130);
  });
});

describe('init', () => {
  it(
    verifies('cli.init', 'writes a valid project and never overwrites it without --force'),
    async () => {
      const made = await runCli(['init', 'new'], { cwd });
      expect(made.code).toBe(0);
      const path = join(cwd, 'new', 'gateway.yaml');
      expect(await readFile(path, 'utf8')).toMatch(/^# yaml-language-server: \$schema=/m);
      expect(made.stdout).toContain('.github/workflows/gateway.yml');
      expect((await runCli(['validate', '-f', 'new/gateway.yaml'], { cwd })).code).toBe(0);
      await writeFile(path, '# mine\n');
      const again = await runCli(['init', 'new'], { cwd });
      expect(again.code).toBe(1);
      expect(await readFile(path, 'utf8')).toBe('# mine\n');
      expect((await runCli(['init', 'new', '--force'], { cwd })).code).toBe(0);
      expect(await readFile(path, 'utf8')).not.toBe('# mine\n');
    },
  );

  it('takes the vendors whose keys are set, never their values', async () => {
    const env = { OPENAI_API_KEY: CANARY };
    const made = await runCli(['init', '-t', 'env', '--json'], { cwd, env });
    expect(made.json().data.vendors).toContain('openai');
    const text = await readFile(join(cwd, 'gateway.yaml'), 'utf8');
    expect(text).toContain('${secret:env:OPENAI_API_KEY}');
    expect(text + made.stdout).not.toContain(CANARY);
    expect((await runCli(['validate'], { cwd, env })).code).toBe(0);
  });
});

describe('doctor', () => {
  it('says what is wrong in words and exits 1', async () => {
    const missing = await runCli(['doctor'], { cwd });
    expect(missing.code).toBe(1);
    expect(missing.stdout).toContain('bad  configuration');
    await project(CONFIG);
    const unset = await runCli(['doctor', '--offline', '--json'], {
      cwd,
      env: { GATEWAY_PORT: '0' },
    });
    expect(unset.code).toBe(1);
    const findings: { name: string; state: string }[] = unset.json().data.findings;
    expect(findings.find(({ name }) => name === 'secrets')).toMatchObject({ state: 'bad' });
    expect(findings.find(({ name }) => name === 'node')).toMatchObject({ state: 'ok' });
  });

  it('is content with a sound project', async () => {
    await project();
    const env = { GATEWAY_PORT: '0', UPSTREAM_KEY: CANARY };
    const sound = await runCli(['doctor', '--offline'], { cwd, env });
    expect(sound).toMatchObject({ code: 0, stderr: '' });
    expect(sound.stdout).not.toContain(CANARY);
  });

  it(
    verifies('store.ledger-sync.values', '(doctor) says what a power cut can lose of the ledger'),
    async () => {
      await project();
      const told = async (settings: Record<string, string>): Promise<string | undefined> => {
        const env = { GATEWAY_PORT: '0', UPSTREAM_KEY: CANARY, ...settings };
        const { stdout } = await runCli(['doctor', '--offline'], { cwd, env });
        return stdout.split('\n').find((line) => line.includes('ledger'));
      };
      expect(await told({})).toMatch(/quarter of a second, of those with a spending limit/);
      expect(await told({ GATEWAY_LEDGER_SYNC: 'process' })).toMatch(
        /lose .* quarter of a second$/,
      );
      expect(await told({ GATEWAY_LEDGER_SYNC: 'group' })).toMatch(/hundredths of a second$/);
      expect(await told({ GATEWAY_LEDGER_SYNC: 'call' })).toMatch(/no call that was answered$/);
      expect(await told({ GATEWAY_WORKERS: '2' })).toMatch(/acknowledged by the store itself/);
    },
  );
});
