import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { askSecret } from '../../../src/cli/input/ask-secret.ts';
import { startFakeServer } from '../../client/fake-server.ts';
import type { FakeServer } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { runCli } from '../run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';

let gateway: TestGateway;
let restricted: string;
beforeAll(async () => {
  gateway = await startGateway({ organizations: [{ name: 'acme' }] });
  const created = await gateway.admin('POST', '/admin/v1/keys', {
    name: 'laptop',
    organization: 'acme',
    scopes: ['models'],
  });
  restricted = created.body.value;
});
afterAll(() => gateway.stop());

let home: string;
let file: string;
beforeEach(async () => {
  home = await emptyDirectory();
  file = join(home, 'gateway', 'contexts.yaml');
});

/** Where no `.gateway` is found, with a configuration directory of the test's own. */
async function run(
  argv: string,
  { stdin, env = {}, cwd }: { stdin?: string; env?: Record<string, string>; cwd?: string } = {},
) {
  return runCli(argv.split(' '), {
    env: { XDG_CONFIG_HOME: home, XDG_CONFIG_DIRS: join(home, 'system'), ...env },
    cwd: cwd ?? home,
    ...(stdin !== undefined && { stdin }),
  });
}

async function login(name: string, key = gateway.clientKey, url = gateway.url) {
  const done = await run(`login ${url} --context ${name} -o json`, { stdin: `${key}\n` });
  expect(done.stderr + done.stdout).toContain('"ok": true');
}

/** Takes every key, and tells which it saw. */
async function startOther(): Promise<FakeServer & { keys(): (string | undefined)[] }> {
  const organization = { id: 'org_other', name: 'other-org' };
  const body = { id: 'key_other', name: 'other-key', organization, scopes: null };
  const server = await startFakeServer(() => ({ body }));
  onTestFinished(() => server.close());
  const keys = () => server.calls.map(({ headers }) => headers.authorization?.slice(7));
  return { ...server, keys };
}

describe('login', () => {
  it(
    verifies('cli.login', 'takes the key from stdin, asks the server, and keeps it to the user'),
    async () => {
      const done = await run(`login ${gateway.url} --context work -o json`, {
        stdin: `${restricted}\n`,
      });
      expect(done.json().data).toMatchObject({
        context: 'work',
        server: gateway.url,
        organization: 'acme',
        key_name: 'laptop',
        scopes: ['models'],
        file,
      });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await readFile(file, 'utf8')).toContain(restricted);
      expect(done.stdout + done.stderr).not.toContain(restricted);
      const me = await run('whoami -o json');
      expect(me.json().data).toMatchObject({ context: 'work', key_name: 'laptop' });
    },
  );

  it(verifies('cli.login', 'takes the key from a file that others cannot read'), async () => {
    const key = join(home, 'key');
    await writeFile(key, `${restricted}\n`, { mode: 0o600 });
    expect(await run(`login ${gateway.url} --api-key-file ${key}`)).toMatchObject({ code: 0 });
    expect((await run('config current-context')).stdout.trim()).toMatch(/^127\.0\.0\.1-\d+$/);
    await chmod(key, 0o640);
    const refused = await run(`login ${gateway.url} --api-key-file ${key} --json`);
    expect([refused.code, refused.json().error.hint]).toEqual([4, `chmod 600 ${key}`]);
  });

  it('asks at a terminal, and shows nothing of the answer', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const { signal } = new AbortController();
    const answer = askSecret('API key: ', { input, output, signal });
    input.write('sk-typed\r');
    expect(await answer).toBe('sk-typed');
    expect(String(output.read())).toBe('API key: \n');
  });

  it('ends with 130 when the question is not answered', async () => {
    const abort = new AbortController();
    const { signal } = abort;
    for (const leave of [
      (input: PassThrough) => input.write('\u0003'),
      (input: PassThrough) => input.end(),
      () => abort.abort(),
    ]) {
      const [input, output] = [new PassThrough(), new PassThrough()];
      const answer = askSecret('API key: ', { input, output, signal });
      leave(input);
      await expect(answer).rejects.toMatchObject({ code: 'interrupted', exitCode: 130 });
    }
  });

  it(
    verifies('cli.login', 'stores nothing that the server refuses or that is no gateway'),
    async () => {
      const refused = await run(`login ${gateway.url} --json`, { stdin: `sk-${'0'.repeat(64)}` });
      expect([refused.code, refused.json().error.code]).toEqual([4, 'invalid_api_key']);
      const other = await startFakeServer(() => ({ body: { hello: 'world' } }));
      onTestFinished(() => other.close());
      const foreign = await run(`login ${other.url} --json`, { stdin: 'sk-x' });
      expect([foreign.code, foreign.json().error.code]).toEqual([1, 'not_a_gateway']);
      const empty = await run(`login ${gateway.url} --json`, { stdin: '' });
      expect([empty.code, empty.json().error.code]).toEqual([4, 'no_api_key']);
      await expect(stat(file)).rejects.toThrow('ENOENT');
    },
  );

  it(verifies('cli.login', 'uses no contexts that others may read'), async () => {
    await login('work');
    await chmod(file, 0o644);
    const refused = await run('whoami --json');
    expect(refused.json().error).toMatchObject({
      code: 'insecure_key_file',
      hint: `chmod 600 ${file}`,
    });
    expect(refused.code).toBe(4);
    await chmod(file, 0o600);
    expect((await run('whoami')).code).toBe(0);
  });

  it(verifies('cli.login', 'a restricted key that is used outside its scope exits 4'), async () => {
    await login('work', restricted);
    expect((await run('models list')).code).toBe(0);
    const refused = await run('agents list --json');
    expect([refused.code, refused.json().error.code]).toEqual([4, 'insufficient_scope']);
  });

  it(verifies('cli.login', 'logout removes the key, and only that of the context'), async () => {
    await login('work', restricted);
    await login('home');
    expect((await run('logout --context work --json')).json().data).toEqual({
      context: 'work',
      removed: true,
    });
    expect(await readFile(file, 'utf8')).not.toContain(restricted);
    const after = await run('whoami --context work --json');
    expect([after.code, after.json().error.code]).toEqual([4, 'no_api_key']);
    expect((await run('whoami')).code).toBe(0);
    expect((await run('logout --context work --json')).json().data.removed).toBe(false);
    const again = await run('login --context work --json', { stdin: restricted });
    expect(again.json().data.server).toBe(gateway.url);
  });

  it('says what lacks: an address, a home, a name that can be typed', async () => {
    expect(await run('login --context new', { stdin: 'sk-x' })).toMatchObject({ code: 64 });
    expect(await run(`login ${gateway.url} --context local`, { stdin: 'sk-x' })).toMatchObject({
      code: 64,
    });
    expect(await run(`login ${gateway.url} --context $(x)`, { stdin: 'sk-x' })).toMatchObject({
      code: 64,
    });
    const homeless = await runCli(['login', gateway.url, '--json'], { stdin: gateway.clientKey });
    expect(homeless.json().error.code).toBe('no_home');
  });

  it('warns of a key that would be sent for all to read', async () => {
    const done = await run('login http://gateway.invalid', { stdin: 'sk-x' });
    expect(done.stderr).toContain('is not encrypted');
  });
});

describe('contexts', () => {
  it(
    verifies('cli.contexts', 'select server and key; whoami names server, organization and key'),
    async () => {
      const other = await startOther();
      await login('work', restricted);
      await login('other', 'sk-other', other.url);
      const whoami = async (more = '', env = {}) =>
        (await run(`whoami --json${more}`, { env })).json().data;
      expect(await whoami()).toMatchObject({ server: other.url, organization: 'other-org' });
      const work = { context: 'work', server: gateway.url, organization: 'acme' };
      expect(await whoami(' --context work')).toMatchObject({ ...work, key_name: 'laptop' });
      expect(await whoami('', { GATEWAY_CONTEXT: 'work' })).toMatchObject(work);
      expect((await run('config use-context work')).code).toBe(0);
      expect(await whoami()).toMatchObject(work);
      const text = (await run('whoami')).stdout;
      for (const part of [gateway.url, 'acme', 'laptop']) expect(text).toContain(part);
    },
  );

  it(
    verifies('cli.contexts', 'never send the key of one context to the server of another'),
    async () => {
      const other = await startOther();
      await login('work', restricted);
      await login('other', 'sk-other', other.url);
      const before = other.calls.length;
      await run('config use-context work');
      const calls: [string, Record<string, string>][] = [
        [`whoami --server ${other.url}`, {}],
        ['whoami', { GATEWAY_SERVER: other.url }],
        [`whoami --server ${other.url}`, { GATEWAY_CONTEXT: 'work' }],
        [`api GET /v1/models --server ${other.url}`, {}],
        [`selftest --against ${other.url}`, {}],
      ];
      for (const [argv, env] of calls) await run(argv, { env });
      await writeFile(join(home, '.gatewayrc.yaml'), `server: ${other.url}\n`);
      expect((await run('whoami --json')).json().error.code).toBe('no_api_key');
      expect(other.keys().slice(before)).toEqual([undefined]);
      const mixed = await run(`whoami --server ${other.url} --context work --json`);
      expect([mixed.code, mixed.json().error.code]).toEqual([64, 'usage']);
      // The key that was named with the context counts, not the one that lies about.
      const own = await run('whoami --context other', { env: { GATEWAY_API_KEY: restricted } });
      expect([own.code, other.keys().at(-1)]).toEqual([0, 'sk-other']);
    },
  );

  it('do not borrow the key of the local gateway, which has a name of its own', async () => {
    await login('work', restricted);
    await run('logout');
    const cwd = gateway.directory;
    await writeFile(
      join(cwd, '.gateway', 'runtime.json'),
      JSON.stringify({ url: gateway.url, pid: process.pid }),
    );
    expect((await run('whoami --json', { cwd })).json().error.code).toBe('no_api_key');
    const local = await run('whoami --context local --json', { cwd });
    expect(local.json().data).toMatchObject({ context: null, server: gateway.url });
    await run('config use-context local');
    expect((await run('config current-context')).stdout.trim()).toBe('local');
    expect((await run('whoami', { cwd })).code).toBe(0);
  });

  it('are listed without their keys, chosen and deleted by name', async () => {
    await login('work', restricted);
    await login('home');
    const listed = (await run('config get-contexts -o json')).json().data;
    expect(listed.map(({ name, current }: any) => [name, current])).toEqual([
      ['home', true],
      ['work', false],
    ]);
    const text = await run('config get-contexts');
    expect(text.stdout).toMatch(/^\* +home/m);
    expect(JSON.stringify(listed) + text.stdout).not.toContain(restricted);
    const unknown = await run('config use-context nobody --json');
    expect(unknown.json().error).toMatchObject({ code: 'no_context', hint: 'known: home, work' });
    expect((await run('config delete-context home')).code).toBe(0);
    expect(await readFile(file, 'utf8')).not.toContain(gateway.clientKey);
    expect((await run('config get-contexts -q')).stdout).toBe('work\n');
    expect((await run('config current-context')).stdout.trim()).toBe('local');
  });

  it('that cannot be read are told of without what stands in them', async () => {
    await mkdir(join(home, 'gateway'));
    for (const text of ['sk-canary: [', '[]', 'version: 2', 'version: 1\ncontexts: [sk-canary]']) {
      await writeFile(file, text, { mode: 0o600 });
      const done = await run('whoami --json --debug');
      expect(done.json().error.code).toBe('invalid_contexts');
      expect(done.stdout + done.stderr).not.toContain('sk-canary');
    }
  });

  it('say when another place wins over the choice', async () => {
    await login('work');
    const env = { GATEWAY_SERVER: 'http://127.0.0.1:1' };
    expect((await run('config use-context work', { env })).stderr).toContain('GATEWAY_SERVER');
    const named = await run('config use-context work', { env: { GATEWAY_CONTEXT: 'home' } });
    expect(named.stderr).toContain('GATEWAY_CONTEXT names the context home');
  });
});

describe('precedence of settings', () => {
  const view = async (argv = '', env = {}, cwd?: string) => {
    const words = `config view --show-origin -o json${argv}`;
    const { data } = (await run(words, { env, ...(cwd && { cwd }) })).json();
    return Object.fromEntries(
      data.settings.map(({ name, value, origin }: any) => [name, [value, origin]]),
    );
  };

  it(
    verifies(
      'config.precedence',
      'flags win over GATEWAY_*, over project, user and system files; view tells which',
    ),
    async () => {
      const project = join(home, 'project');
      const files = {
        system: join(home, 'system', 'gateway', 'config.yaml'),
        user: join(home, 'gateway', 'config.yaml'),
        project: join(project, '.gatewayrc.yaml'),
      };
      const cwd = join(project, 'below');
      await mkdir(cwd, { recursive: true });
      const write = async (path: string, timeout: string, port: number) => {
        await mkdir(join(path, '..'), { recursive: true });
        await writeFile(path, `timeout: ${timeout}\nserver: http://127.0.0.1:${port}\n`);
      };
      const expectBoth = async (timeout: string, port: number, origin: string) => {
        const shown = await view('', {}, cwd);
        expect(shown['timeout']).toEqual([timeout, origin]);
        expect(shown['server']).toEqual([`http://127.0.0.1:${port}`, origin]);
      };
      await expectBoth('60s', 8787, 'default');
      await write(files.system, '11s', 1101);
      await expectBoth('11s', 1101, files.system);
      await write(files.user, '12s', 1102);
      await expectBoth('12s', 1102, files.user);
      await write(files.project, '13s', 1103);
      await expectBoth('13s', 1103, files.project);
      const env = { GATEWAY_TIMEOUT: '14s', GATEWAY_SERVER: 'http://127.0.0.1:1104' };
      const shown = await view('', env, cwd);
      expect([shown['timeout'], shown['server']]).toEqual([
        ['14s', 'GATEWAY_TIMEOUT'],
        ['http://127.0.0.1:1104', 'GATEWAY_SERVER'],
      ]);
      const flagged = await view(' --timeout 15s --server http://127.0.0.1:1105', env, cwd);
      expect([flagged['timeout'], flagged['server']]).toEqual([
        ['15s', '--timeout'],
        ['http://127.0.0.1:1105', '--server'],
      ]);
    },
  );

  it(verifies('config.precedence', 'view masks keys and tells where they come from'), async () => {
    await login('work', restricted);
    const shown = await view();
    expect(shown['api_key']).toEqual([expect.stringMatching(/^sk-.{3}….{4}$/), 'context work']);
    expect(shown['context']).toEqual(['work', 'use-context']);
    const byEnv = await view('', { GATEWAY_API_KEY: gateway.clientKey });
    expect(byEnv['api_key']?.[1]).toBe('GATEWAY_API_KEY');
    for (const form of ['', ' --show-origin', ' -o json', ' --debug']) {
      const { stdout, stderr } = await run(`config view${form}`);
      expect(stdout + stderr).not.toContain(restricted);
      expect(stdout.includes('context work')).toBe(form === ' --show-origin');
    }
  });

  it('a context of the project is chosen by name, and output by the user', async () => {
    await login('work', restricted);
    await login('home');
    await writeFile(join(home, '.gatewayrc.yaml'), 'context: work\noutput: json\n');
    expect((await run('whoami')).json().data).toMatchObject({
      context: 'work',
      key_name: 'laptop',
    });
    expect((await run('whoami --context home --json')).json().data.context).toBe('home');
  });

  it('refuses files that set what no file may set', async () => {
    const path = join(home, '.gatewayrc.yaml');
    for (const [text, told] of [
      ['api_key_file: /etc/passwd', 'api_key_file cannot be set in a file'],
      ['yes: true', 'yes cannot be set in a file'],
      ['server: [a]', 'server: expected a text'],
      ['- a', 'expected names and values'],
      ['a: [', '.gatewayrc.yaml: '],
    ] as const) {
      await writeFile(path, text);
      const done = await run('whoami --json');
      expect([done.code, done.json().error.code]).toEqual([3, 'invalid_settings']);
      expect(done.json().error.message).toContain(told);
    }
    await writeFile(path, 'timeout: soon');
    expect((await run('whoami')).stderr).toContain(`timeout in ${path} must be a duration`);
  });
});
