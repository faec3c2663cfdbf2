import { chmod, lstat, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { TOOLS } from '../../../src/cli/connect/tools.ts';
import { startFakeServer } from '../../client/fake-server.ts';
import type { FakeServer, Handler } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';

const OWN = 'sk-own-00000000000000001';
const MADE = 'sk-made-0000000000000001';
const PROTOCOLS = ['chat', 'messages', 'responses', 'generate-content'];
const model = (id: string) => ({
  id,
  object: 'model',
  created: 1,
  owned_by: 'acme',
  protocols: PROTOCOLS,
});

let listed: string[];
/** Providers that serve more than the list. */
let open: object[];
let server: FakeServer;
let home: string;
/** Scopes of the user's key. */
let scopes: string[] | null;
/** Names of keys that exist. */
let names: Set<string>;

beforeEach(async () => {
  home = await emptyDirectory();
  scopes = ['admin'];
  listed = ['acme/fast', 'acme/slow'];
  names = new Set();
  open = [];
  server = await startFakeServer(gateway);
});
afterEach(() => server.close());

const gateway: Handler = ({ path, body, headers }) => {
  if (path.startsWith('/v1/models'))
    return {
      status: 200,
      body: { object: 'list', data: listed.map(model), open },
    };
  if (path.startsWith('/v1/account/key')) {
    const isMade = headers['authorization'] === `Bearer ${MADE}`;
    const organization = { id: 'org_1', name: 'main' };
    return {
      status: 200,
      body: { id: 'key_1', name: 'x', organization, scopes: isMade ? ['inference'] : scopes },
    };
  }
  const { name } = body as { name: string };
  if (names.has(name))
    return { status: 409, body: { error: { code: 'conflict', message: 'exists already' } } };
  names.add(name);
  return { status: 201, body: { id: 'key_2', type: 'api_key', name, version: 1, value: MADE } };
};

const connect = (...words: string[]) =>
  runCli(['connect', ...words], {
    cwd: home,
    env: {
      GATEWAY_SERVER: server.url,
      GATEWAY_API_KEY: OWN,
      HOME: home,
      PATH: join(home, 'bin'),
    },
  });

const filesOf = (recipe: { files: { path: string; content: string }[] }) => recipe.files;

it.each([
  ['claude', 'ANTHROPIC_MODEL', 'b/claude-x'],
  ['codex', undefined, 'c/gpt-x'],
  ['gemini', 'GEMINI_MODEL', 'd/gemini-x'],
  ['aider', undefined, 'a/first'],
])(
  '%s starts with a model that it is made for, and never with the mock',
  async (tool, _, model) => {
    listed = ['mock/echo', 'a/first', 'b/claude-x', 'c/gpt-x', 'd/gemini-x'];
    const { stdout } = await connect(tool);
    expect(stdout).toContain(model);
    const first = listed.map((id) => [stdout.indexOf(id), id]).filter(([at]) => Number(at) >= 0);
    expect(first.toSorted((a, b) => Number(a[0]) - Number(b[0]))[0]?.[1]).toBe(model);
  },
);

describe('without a flag', () => {
  it('lists the tools', async () => {
    const { code, stdout } = await connect();
    expect(code).toBe(0);
    for (const { name, title } of TOOLS) {
      expect(stdout).toContain(name);
      expect(stdout).toContain(title);
    }
  });

  it.each(TOOLS.map(({ name }) => name))(
    verifies('connect.prints', 'prints address, key and model, and writes nothing: %s'),
    async (name) => {
      scopes = ['inference', 'models'];
      const run = await connect(name);
      expect(run.code).toBe(0);
      expect(run.stdout).toContain(server.url);
      expect(run.stdout).toContain(OWN);
      const { data } = (await connect(name, '-o', 'json')).json();
      expect(data).toMatchObject({ tool: name, server: server.url, key: OWN, model: 'acme/fast' });
      expect(data.models).toEqual(['acme/fast', 'acme/slow']);
      expect(await readdir(home)).toEqual([]);
      expect(names.size).toBe(0);
    },
  );

  it('never shows a key that may administer the gateway, but the command that makes another', async () => {
    for (const { name } of TOOLS) {
      const { stdout } = await connect(name);
      expect(stdout).not.toContain(OWN);
      expect(stdout).toContain(`gateway connect ${name} --print-key`);
    }
  });

  it('prints the same key in a second shell, and makes one alone', async () => {
    const [first, second] = [
      await connect('claude', '--print-key'),
      await connect('claude', '--print-key'),
    ];
    expect([first.stdout, second.stdout]).toEqual([`${MADE}\n`, `${MADE}\n`]);
    expect([...names]).toEqual(['claude']);
  });

  it('knows a tool by its other words', async () => {
    for (const word of ['claude-code', 'ccr', 'gemini-cli'])
      expect((await connect(word)).code).toBe(0);
  });

  it('takes no scripted model where the list of a real provider is missing', async () => {
    listed = ['mock/echo'];
    open = [{ provider: 'openai', patterns: ['*'], listed: 0, problem: 'connect ECONNREFUSED' }];
    const { code, stdout, stderr } = await connect('claude', '--write');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('the models of openai could not be listed: connect ECONNREFUSED');
    expect(stderr).toContain('hint: name one: gateway connect claude --model openai/NAME');
    const named = await connect('claude', '--model', 'openai/gpt-x');
    expect(named.code).toBe(0);
    expect(named.stderr).toBe('');
  });

  it('takes a model by name, and warns of one that is not listed', async () => {
    const listed = await connect('claude', '--model', 'acme/slow');
    expect(listed.stdout).toContain('ANTHROPIC_MODEL=acme/slow');
    expect(listed.stderr).not.toContain('lists no model');
    const other = await connect('claude', '--model', 'acme/other');
    expect(other.stdout).toContain('ANTHROPIC_MODEL=acme/other');
    expect(other.stderr).toContain('lists no model acme/other');
  });

  it.each([
    [
      'claude',
      {
        ANTHROPIC_MODEL: 'opusplan',
        ANTHROPIC_DEFAULT_OPUS_MODEL: 'acme/deep',
        ANTHROPIC_DEFAULT_SONNET_MODEL: 'acme/fast',
        ANTHROPIC_DEFAULT_HAIKU_MODEL: 'acme/slow',
      },
    ],
    ['aider --plan=', { AIDER_MODEL: 'openai/acme/fast', AIDER_WEAK_MODEL: 'openai/acme/slow' }],
    ['goose --background=', { GOOSE_MODEL: 'acme/fast', GOOSE_PLANNER_MODEL: 'acme/deep' }],
  ])('has models by task: %s', async (words, env) => {
    listed = ['acme/fast', 'acme/slow', 'acme/deep'];
    const [tool = '', without] = words.split(' ');
    const tasks = ['--background=acme/slow', '--plan=acme/deep'];
    const given = tasks.filter((one) => without === undefined || !one.startsWith(without));
    const { code, json } = await connect(tool, ...given, '-o', 'json');
    expect(code).toBe(0);
    expect(json().data.env).toMatchObject(env);
    if (without === undefined) return;
    const refused = await connect(tool, ...tasks);
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain(`has no model of its own for ${without.slice(0, -1)}`);
    expect(refused.stderr).toContain('these have: claude, opencode');
  });

  it('has models by task in files as well, and warns of one that is not listed', async () => {
    const words = ['opencode', '--background', 'acme/slow', '--plan', 'acme/gone', '-o', 'json'];
    const { data, warnings } = (await connect(...words)).json();
    expect(JSON.parse(data.files[0].content)).toMatchObject({
      model: 'gateway/acme/fast',
      small_model: 'gateway/acme/slow',
      agent: { plan: { model: 'gateway/acme/gone' } },
      provider: { gateway: { models: { 'acme/gone': {} } } },
    });
    expect(warnings).toEqual([expect.stringContaining('the gateway lists no model acme/gone')]);
  });

  it('names the tool that was meant', async () => {
    const { code, stderr } = await connect('claud');
    expect(code).toBe(64);
    expect(stderr).toContain('hint: did you mean claude?');
    expect((await connect('emacs')).stderr).toContain('hint: known: claude, codex');
  });
});

describe('--write and --undo', () => {
  const OLD: Record<string, string> = {
    '.claude/settings.json': '{"theme":"dark",   "env":{"A":"b"}}',
    '.codex/gateway.config.toml': 'model = "mine" # kept\n',
    '.gemini/.env': '# mine\nexport GEMINI_MODEL=old\nOTHER=1',
    '.gemini/settings.json': '{"ui":{"theme":"x"}}\n',
    '.config/opencode/opencode.json': '{"provider":{"mine":{"name":"Mine"}}}',
    '.aider.conf.yml': '# mine\nauto-commits: false\nmodel: old\n',
    '.continue/config.yaml': 'name: Mine\nmodels:\n  # first\n  - name: own\n    model: own\n',
    '.config/zed/settings.json': '{"vim_mode":true}',
    'librechat.yaml': 'cache: true\nendpoints:\n  custom:\n    - name: Mine\n',
  };
  const writable = TOOLS.filter(
    (tool) => tool.recipe({ server: '', key: '', model: '', models: [] }).files,
  );

  it.each(writable.map(({ name }) => name))(
    verifies('connect.write-undo', 'restores what was there byte for byte: %s'),
    async (name) => {
      const files = filesOf((await connect(name, '-o', 'json')).json().data);
      const paths = files.map(({ path }) => join(home, path.replace('~/', '')));
      for (const path of paths) {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, OLD[path.slice(home.length + 1)] as string, { mode: 0o640 });
      }
      const before = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
      expect((await connect(name, '--write')).code).toBe(0);
      const written = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
      expect(written.join('\n')).toContain(server.url);
      expect((await lstat(paths[0] as string)).mode & 0o777).toBe(0o640);
      const again = await connect(name, '--write', '--model', 'acme/slow');
      expect(again.code).toBe(0);
      expect((await connect(name, '--undo')).code).toBe(0);
      expect(await Promise.all(paths.map((path) => readFile(path, 'utf8')))).toEqual(before);
      const left = (await readdir(dirname(paths[0] as string))).filter((one) =>
        one.includes('before-gateway'),
      );
      expect(left).toEqual([]);
    },
  );

  it('removes files that were not there before, and has no copy of them to keep', async () => {
    await connect('gemini', '--write');
    expect(await readFile(join(home, '.gemini/.env'), 'utf8')).toContain(`GEMINI_API_KEY=${MADE}`);
    expect((await lstat(join(home, '.gemini/.env'))).mode & 0o777).toBe(0o600);
    await connect('gemini', '--undo');
    expect(await readdir(join(home, '.gemini'))).toEqual([]);
    const { code, stderr } = await connect('gemini', '--undo');
    expect(code).toBe(1);
    expect(stderr).toContain('written nothing');
  });

  it('keeps comments and lists of the user', async () => {
    const path = join(home, '.continue/config.yaml');
    await mkdir(dirname(path));
    await writeFile(path, OLD['.continue/config.yaml'] as string);
    await connect('continue', '--write');
    await connect('continue', '--write');
    const text = await readFile(path, 'utf8');
    expect(text).toContain('# first');
    const { name, models } = parse(text) as { name: string; models: { name: string }[] };
    expect(name).toBe('Mine');
    expect(models.map((one) => one.name)).toEqual(['own', 'acme/fast', 'acme/slow']);
  });

  it('makes no key where the file cannot be merged', async () => {
    await mkdir(join(home, '.claude'));
    const text = '{"env":{}, // mine\n}';
    await writeFile(join(home, '.claude/settings.json'), text);
    const { code, stderr } = await connect('claude', '--write');
    expect(code).toBe(1);
    expect(stderr).toContain('has comments');
    expect([...names]).toEqual([]);
    expect(await readFile(join(home, '.claude/settings.json'), 'utf8')).toBe(text);
  });

  it('writes through a link', async () => {
    await mkdir(join(home, '.claude'));
    await writeFile(join(home, 'dotfile'), '{}');
    await symlink(join(home, 'dotfile'), join(home, '.claude/settings.json'));
    await connect('claude', '--write');
    expect((await lstat(join(home, '.claude/settings.json'))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(home, 'dotfile'), 'utf8')).toContain(server.url);
  });

  it('asks before changes made since are lost', async () => {
    await connect('aider', '--write');
    const path = join(home, '.aider.conf.yml');
    await writeFile(path, 'model: later\n');
    const refused = await connect('aider', '--undo');
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain('--yes');
    expect(await readFile(path, 'utf8')).toBe('model: later\n');
    expect((await connect('aider', '--undo', '--yes')).code).toBe(0);
  });

  it('goes back to what was there first, also where the file was changed between two writes', async () => {
    const path = join(home, '.aider.conf.yml');
    await writeFile(path, 'model: mine\n');
    await connect('aider', '--write');
    await writeFile(path, `${await readFile(path, 'utf8')}dark-mode: true\n`);
    await connect('aider', '--write');
    await connect('aider', '--write');
    const refused = await connect('aider', '--undo');
    expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining('--yes')]);
    expect((await connect('aider', '--undo', '--yes')).code).toBe(0);
    expect(await readFile(path, 'utf8')).toBe('model: mine\n');
    expect((await readdir(home)).filter((one) => one.includes('before-gateway'))).toEqual([]);
  });

  it.each([
    ['opencode.jsonc', ['opencode.json', 'opencode.jsonc']],
    ['opencode.jsonc', ['config.json', 'opencode.jsonc']],
    ['opencode.json', ['config.json', 'opencode.json']],
    ['config.json', ['config.json']],
  ])('writes %s, which wins of the names that are there: %j', async (written, names) => {
    const folder = join(home, '.config/opencode');
    await mkdir(folder, { recursive: true });
    for (const name of names) await writeFile(join(folder, name), '{"theme":"x"}');
    expect((await connect('opencode', '--write')).code).toBe(0);
    for (const name of names) {
      const text = await readFile(join(folder, name), 'utf8');
      expect([name, text.includes(server.url)]).toEqual([name, name === written]);
    }
    expect((await connect('opencode', '--undo')).code).toBe(0);
    expect((await readdir(folder)).toSorted()).toEqual(names.toSorted());
    expect(await readFile(join(folder, written), 'utf8')).toBe('{"theme":"x"}');
  });

  it('makes no file that would hide an older one', async () => {
    await mkdir(join(home, '.continue'));
    await writeFile(join(home, '.continue/config.json'), '{"models":[]}');
    const { code, stderr } = await connect('continue', '--write');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/would not read .*config\.yaml/)]);
    expect(await readdir(join(home, '.continue'))).toEqual(['config.json']);
    await writeFile(join(home, '.continue/config.yaml'), 'name: Mine\n');
    expect((await connect('continue', '--write')).code).toBe(0);
  });

  it('leaves a file alone that it cannot merge into', async () => {
    const path = join(home, '.config/zed/settings.json');
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '// mine\n{}\n');
    const { code, stderr } = await connect('zed', '--write');
    expect(code).toBe(1);
    expect(stderr).toContain('paste the configuration by hand');
    expect(await readFile(path, 'utf8')).toBe('// mine\n{}\n');
    await mkdir(join(home, '.config/opencode'));
    await writeFile(join(home, '.config/opencode/opencode.jsonc'), '{} // mine');
    expect((await connect('opencode', '--write')).stderr).toContain('has comments');
    expect(await readdir(join(home, '.config/opencode'))).toEqual(['opencode.jsonc']);
  });
});

describe('the key', () => {
  it('is made once for a tool, and used again', async () => {
    await connect('claude', '--write');
    await connect('claude', '--write');
    expect([...names]).toEqual(['claude']);
    expect((await connect('claude')).stdout).toContain(`ANTHROPIC_AUTH_TOKEN=${MADE}`);
  });

  it('gets a number where others have one of that name', async () => {
    names = new Set(['claude', 'claude-2']);
    const { stderr } = await connect('claude', '--create-key');
    expect(stderr).toContain('key claude-3');
  });
});

describe('--run', () => {
  const program = async (name: string, script: string) => {
    const path = join(home, 'bin', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
  };

  it('starts the tool with its environment and words, and ends as it does', async () => {
    await program('claude', `echo "$ANTHROPIC_BASE_URL $ANTHROPIC_AUTH_TOKEN $*" > out; exit 7`);
    const { code } = await connect('claude', '--run', '--', '-p', 'two words');
    expect(code).toBe(7);
    const said = await readFile(join(home, 'out'), 'utf8');
    expect(said).toBe(`${server.url} ${MADE} -p two words\n`);
    expect(await readdir(home)).not.toContain('.claude');
  });

  it('says how to install what is missing', async () => {
    const { code, stderr } = await connect('codex', '--run');
    expect(code).toBe(1);
    expect(stderr).toContain('npm install -g @openai/codex');
  });

  it('is refused together with --write, and for what is not started from a terminal', async () => {
    expect((await connect('codex', '--run', '--write')).code).toBe(64);
    expect((await connect('n8n', '--run')).code).toBe(64);
    expect((await connect('goose', '--write')).code).toBe(64);
    expect(names.size).toBe(0);
  });
});
