import { mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { newDirectory, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { builtMain } from '../support/process/built-command.ts';
import { loadedBy } from './loaded-modules.ts';
import { putPlainNpm } from './plain-npm.ts';
import { runCli } from './run-cli.ts';

const NAME = '@acme/gateway-plugin';
const CONFIG = {
  providers: [{ name: 'acme', type: 'mock' }],
  models: [
    { name: 'acme/one', routes: [{ provider: 'acme' }] },
    { name: 'acme/two', routes: [{ provider: 'acme' }] },
  ],
};

const head = `import { Args, Flags, GatewayCommand } from 'agent-gateway/plugin';\n`;
/** By file below `commands`, as an author of other means would write them. */
const COMMANDS = {
  'acme/models.js': `${head}
export default class Models extends GatewayCommand {
  static summary = 'Name the models';
  static examples = ['<%= config.bin %> <%= command.id %> acme/'];
  static args = { prefix: Args.string({ description: 'How they begin', required: true }) };
  static flags = {
    limit: Flags.integer({ char: 'n', description: 'How many' }),
    tag: Flags.string({ multiple: true }),
    loud: Flags.boolean({ default: true, allowNo: true }),
  };
  async run() {
    const { args, flags } = await this.parse(Models);
    console.log('this is no result');
    const all = await (await this.client()).models.list({}, this.gateway.signal);
    const ids = all.map(({ id }) => id).filter((id) => id.startsWith(args.prefix));
    for (const id of ids.slice(0, flags.limit)) this.log('%s', flags.loud ? id.toUpperCase() : id);
    this.warn('only a few');
    return { ids, ...flags, quiet: this.gateway.quiet, timeoutMs: this.gateway.timeoutMs };
  }
}`,
  'acme/echo.js': `${head}
export class Echo extends GatewayCommand {
  static strict = false;
  static args = { first: Args.string() };
  async run() {
    const { argv } = await this.parse(Echo);
    return { argv, stdin: await this.gateway.readStdin() };
  }
}`,
  'acme/end.js': `${head}
export class End extends GatewayCommand {
  static args = { how: Args.string({ options: ['fail', 'crash', 'exit', 'fine', 'error', 'missing'] }) };
  async run() {
    const { args: { how } } = await this.parse(End);
    if (how === 'fail') this.fail({ code: 'acme_down', message: 'no acme', hint: 'wait', exit: 'conflict' });
    if (how === 'exit') this.exit(7);
    if (how === 'fine') this.exit(0);
    if (how === 'error') this.error('not so');
    if (how === 'missing') return (await this.client()).models.get('acme/none');
    if (how === 'crash') throw new TypeError('acme is undefined');
  }
}`,
  'keys/list.js': `${head}
export class List extends GatewayCommand {
  async run() { return 'mine'; }
}`,
};

let gateway: TestGateway;
let main: Awaited<ReturnType<typeof builtMain>>;
let directory: string;
let env: Record<string, string>;
/** With an npm that installs plain folders. */
let plainPath: string;
beforeAll(async () => {
  [gateway, main] = await Promise.all([startGateway(CONFIG), builtMain()]);
  directory = await realpath(await newDirectory());
  env = {
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    HOME: join(directory, 'home'),
    // Whatever asks a registry fails.
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_fetch_retries: '0',
    GATEWAY_SERVER: gateway.url,
    GATEWAY_API_KEY: gateway.adminKey,
  };
  await mkdir(env['HOME']!);
  plainPath = await putPlainNpm(join(directory, 'plain'));
  await installPlain(await makePlugin('1.0.0'));
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Options {
  input?: string;
  env?: Record<string, string>;
}

const line = (text: string) => text.replace(/\n$/, '');

async function run(...words: (string | Options)[]) {
  const argv = words.filter((word) => typeof word === 'string');
  const { input = '', env: more } = words.find((word) => typeof word !== 'string') ?? {};
  const options = { cwd: directory, env: { ...env, ...more }, stdin: input, main };
  const { code, stdout, stderr } = await runCli(argv, options);
  return { exitCode: code, stdout: line(stdout), stderr: line(stderr) };
}

/** Installs a folder. */
const installPlain = (folder: string) =>
  run('plugins', 'install', folder, '--yes', { env: { PATH: plainPath } });

async function writeFiles(folder: string, files: Record<string, string>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** The plugin in this version; gives its folder. */
async function makePlugin(version: string): Promise<string> {
  const canary = `require('fs').writeFileSync(${JSON.stringify(join(directory, 'ran'))},'')`;
  const folder = await writeFiles(join(directory, version, 'package'), {
    'package.json': JSON.stringify({
      name: NAME,
      version,
      type: 'module',
      oclif: { commands: './commands' },
      peerDependencies: { 'agent-gateway': '*' },
      scripts: { install: `node -e "${canary.replaceAll('"', "'")}"` },
    }),
    ...Object.fromEntries(
      Object.entries(COMMANDS).map(([path, text]) => [`commands/${path}`, text]),
    ),
  });
  const made = await run('plugins', 'manifest', folder);
  expect(made.stderr).toBe('');
  return folder;
}

async function pack(folder: string): Promise<string> {
  const tarball = join(directory, 'plugin.tgz');
  await execa('tar', ['-czf', tarball, '--exclude=node_modules', '-C', dirname(folder), 'package']);
  return tarball;
}

const documentOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout);
const isThere = async (path: string) => (await stat(path).catch(() => undefined)) !== undefined;
const plugins = () => join(directory, 'home/.local/share/gateway/plugins');

describe('the commands of an installed plugin', () => {
  it(
    verifies('plugins.oclif-host', 'take global flags before and after, and print lines'),
    async () => {
      const anywhere = { GATEWAY_SERVER: 'http://127.0.0.1:9', GATEWAY_API_KEY: '' };
      const file = join(directory, 'key');
      await writeFile(file, gateway.adminKey, { mode: 0o600 });
      const flags = ['--server', gateway.url, '--quiet'];
      const rest = ['acme', 'models', 'acme/', '-n', '1', '--api-key-file', file];
      const printed = await run(...flags, ...rest, { env: anywhere });
      expect(printed).toMatchObject({ exitCode: 0, stdout: 'ACME/ONE' });
      expect(printed.stderr).toBe('warning: only a few');
      const after = await run(...rest, ...flags, '--no-loud', { env: anywhere });
      expect(after).toMatchObject({ exitCode: 0, stdout: 'acme/one' });
      const loud = await run('acme', 'models', 'acme/');
      expect(loud.stdout).toBe('ACME/ONE\nACME/TWO');
      expect(loud.stderr).toBe('this is no result\nwarning: only a few');
    },
  );

  it(verifies('plugins.oclif-host', 'print one document of the usual form'), async () => {
    const words = ['acme', 'models', '--tag', 'a', '--tag=b', 'acme/', '--timeout', '5s'];
    for (const argv of [
      [...words, '--json'],
      ['-o', 'json', ...words],
    ]) {
      expect(documentOf(await run(...argv))).toEqual({
        schema: 'gateway.acme.models/v1',
        ok: true,
        data: {
          ids: ['acme/one', 'acme/two'],
          tag: ['a', 'b'],
          loud: true,
          quiet: false,
          timeoutMs: 5_000,
        },
        warnings: ['only a few'],
        error: null,
      });
    }
    const echo = await run('acme', 'echo', 'a', '--json', '--', '--b', '-', { input: 'in' });
    expect(documentOf(echo).data).toEqual({ argv: ['a', '--b', '-'], stdin: 'in' });
  });

  it(verifies('plugins.oclif-host', 'fail with one error that names the plugin'), async () => {
    for (const [how, exitCode, error] of [
      ['fail', 5, { code: 'acme_down', message: `plugin ${NAME}: no acme`, hint: 'wait' }],
      ['crash', 1, { code: 'plugin_failed', message: `plugin ${NAME}: acme is undefined` }],
      ['error', 1, { code: 'plugin_failed', message: `plugin ${NAME}: not so` }],
      ['exit', 7, { code: 'plugin_failed', message: `plugin ${NAME} failed` }],
      ['missing', 1, { code: 'model_not_found', status: 404 }],
      ['other', 64, { code: 'usage', hint: 'see `gateway acme end --help`' }],
    ] as const) {
      const printed = await run('acme', 'end', how, '-o', 'json');
      expect(printed.exitCode, how).toBe(exitCode);
      expect(documentOf(printed)).toMatchObject({ ok: false, data: null, error });
      const told = (await run('acme', 'end', how)).stderr.split('\n');
      expect(told[0], how).toContain(`error: plugin ${NAME}`);
      expect(told.filter((line) => !/^(error|hint): /.test(line))).toEqual([]);
    }
    expect(await run('acme', 'end', 'fine')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    const refused = await run('acme', 'models', 'a', { env: { GATEWAY_API_KEY: 'sk-wrong' } });
    expect(refused.exitCode).toBe(4);
  });

  it(verifies('plugins.oclif-host', 'refuse what they do not know with 64'), async () => {
    for (const [message, ...words] of [
      ["unknown option '--bogus'", 'acme', 'models', 'acme/', '--bogus'],
      ["missing required argument 'prefix'", 'acme', 'models'],
      [
        'Parsing --limit Expected an integer but received: x',
        'acme',
        'models',
        'a',
        '--limit',
        'x',
      ],
      ["unknown command 'modles'", 'acme', 'modles'],
    ] as const) {
      const printed = await run(...words);
      expect(printed).toMatchObject({ exitCode: 64, stdout: '' });
      expect(printed.stderr).toContain(message);
    }
  });

  it('are in help and completion from what was written down at install', async () => {
    expect((await run('help')).stdout).toMatch(/^ {2}acme +Commands of the plugin @acme/m);
    const group = (await run('acme', '--help')).stdout;
    expect(group).toMatch(/^ {2}models +Name the models \(plugin @acme\/gateway-plugin\)$/m);
    const page = (await run('acme', 'models', '--help')).stdout;
    expect(page).toContain('gateway acme models acme/');
    expect(page).toContain('Usage: gateway acme models [flags] <prefix>');
    expect(page).toMatch(/-n, --limit VALUE +How many \[GATEWAY_ACME_MODELS_LIMIT\]/);
    expect((await run('complete-words', '--', 'acme', '')).stdout).toBe('echo\nend\nmodels');
  });

  it(
    verifies('plugins.oclif-host', 'leave built-in ones alone: none of it is loaded'),
    async () => {
      expect((await run('keys', 'list', '-o', 'json')).stdout).not.toContain('mine');
      const names = ['HOME', 'GATEWAY_SERVER', 'GATEWAY_API_KEY'];
      const around = Object.fromEntries(names.map((name) => [name, env[name]!]));
      const builtin = [['--help'], ['plugins', 'list'], ['acme', 'models', '--help']];
      const isTheirs = (file: string) => /@oclif|gateway-plugin/.test(file);
      for (const argv of builtin) {
        const { own, packages } = await loadedBy(argv, { env: around });
        expect(packages.filter(isTheirs), argv.join(' ')).toEqual([]);
        expect(own).not.toContain('cli/plugins/run-plugin.ts');
      }
      const direct = await loadedBy(['keys', 'list'], { env: around });
      const place = 'cli/plugins/plugins-folder.ts';
      expect(direct.packages.filter(isTheirs)).toEqual([]);
      expect(direct.own.filter((file) => file.startsWith('cli/plugins/'))).toEqual([place]);
      const { packages } = await loadedBy(['acme', 'models', 'a'], { env: around });
      expect(packages.filter(isTheirs).map((file) => file.replace(/.*node_modules\//, ''))).toEqual(
        ['@oclif/core/lib/index.js', '@acme/gateway-plugin/commands/acme/models.js'],
      );
    },
  );
});

describe('gateway plugins', () => {
  it(
    verifies('plugins.oclif-host', 'shows what is to be installed and asks; no script runs'),
    async () => {
      const folder = await makePlugin('1.1.0');
      const unasked = await run('plugins', 'install', folder, { env: { PATH: plainPath } });
      expect(unasked.exitCode).toBe(64);
      expect(unasked.stderr).toContain(`Install ${NAME} 1.1.0?`);
      expect(unasked.stderr).toMatch(/gateway-plugin 1\.1\.0 from .*\(sha512-/);
      expect(unasked.stderr).toContain('commands: gateway acme echo');
      expect(unasked.stderr).toContain('"gateway keys list" remains the built-in command');
      const [before] = documentOf(await run('plugins', 'list', '-o', 'json')).data;
      expect(before).toMatchObject({ name: NAME, version: '1.0.0' });

      const tarball = await pack(folder);
      const installed = documentOf(await run('plugins', 'install', tarball, '--yes', '--json'));
      const integrity = expect.stringMatching(/^sha512-\S{80,}$/);
      expect(installed).toMatchObject({
        ok: true,
        data: { version: '1.1.0', source: tarball, integrity },
      });
      expect(installed.warnings).toHaveLength(1);
      expect((await run('plugins', 'list')).stdout).toMatch(/1\.1\.0 +acme echo, acme end/);
      expect((await run('acme', 'end', 'fine')).exitCode).toBe(0);
      expect(await isThere(join(directory, 'ran'))).toBe(false);
      expect(await readdir(plugins())).toEqual([encodeURIComponent(NAME)]);
    },
  );

  it('refuses what is no plugin, and changes nothing', async () => {
    const folder = join(directory, 'wrong');
    const flags = { server: { name: 'server', type: 'option' } };
    const command = { id: 'mine', args: {}, flags: {} };
    const commands = { mine: command };
    for (const [message, exitCode, manifest] of [
      ['has no oclif.manifest.json', 1, undefined],
      ['is not of version 1.0.0', 1, { version: '2.0.0', commands }],
      ['it declares no command', 1, { version: '1.0.0', commands: {} }],
      ['global flag', 1, { version: '1.0.0', commands: { mine: { ...command, flags } } }],
      ['not a valid command name', 1, { version: '1.0.0', commands: { '../x': command } }],
      ['not built in', 5, { version: '1.0.0', commands: { 'keys:list': command } }],
      ['below', 5, { version: '1.0.0', commands: { 'chat:mine': command } }],
      ['clashes with a command of', 5, { version: '1.0.0', commands: { 'acme:end': command } }],
    ] as const) {
      await rm(folder, { recursive: true, force: true });
      await writeFiles(folder, {
        'package.json': JSON.stringify({ name: 'wrong', version: '1.0.0' }),
        ...(manifest && { 'oclif.manifest.json': JSON.stringify(manifest) }),
      });
      const printed = await installPlain('./wrong');
      expect(printed.stderr).toContain(message === 'below' ? 'not built in' : message);
      expect(printed.exitCode, message).toBe(exitCode);
    }
    for (const words of ['https://x.test/p.git', '../absent', 'Upper', './absent.tgz']) {
      expect((await run('plugins', 'install', words, '--yes')).exitCode, words).toBe(64);
    }
    const unknown = await run('plugins', 'install', 'gateway-plugin-none', '--yes', '-o', 'json');
    expect(documentOf(unknown).error.code).toBe('npm_failed');
    const homeless = await run('plugins', 'install', './wrong', { env: { HOME: '' } });
    expect(homeless.stderr).toContain('set HOME or XDG_DATA_HOME');
    expect(await readdir(plugins())).toEqual([encodeURIComponent(NAME)]);
  });

  it(
    verifies('extend.command', 'refuses declared commands that are not as they must be'),
    async () => {
      const folder = join(directory, 'declared');
      const command = { name: 'mine', summary: 'Mine', examples: [], output: {} };
      const flag = { name: 'server', type: 'string', description: 'Taken' };
      for (const [message, commands] of [
        ['has no gateway.manifest.json', undefined],
        ['commands: ', []],
        ['global flag', [{ ...command, flags: [flag] }]],
        ['global flag', [{ ...command, flags: [{ ...flag, name: 'mine', short: 'o' }] }]],
        ['commands.0.flags.0.type', [{ ...command, flags: [{ ...flag, type: 'number' }] }]],
        ['not a valid command name', [{ ...command, name: '../x' }]],
        ['commands.0.output', [{ ...command, output: undefined }]],
        ['commands.0: ', [{ ...command, run: true }]],
      ] as const) {
        await rm(folder, { recursive: true, force: true });
        const manifest = JSON.stringify({ version: '1.0.0', commands });
        await writeFiles(folder, {
          'package.json': JSON.stringify({
            name: 'declared',
            version: '1.0.0',
            gateway: { commands: './commands.js' },
          }),
          ...(commands && { 'gateway.manifest.json': manifest }),
        });
        const printed = await installPlain('./declared');
        expect(printed.stderr).toContain(message);
        expect(printed.exitCode, message).toBe(1);
      }
      await writeFile(join(folder, 'commands.js'), 'exports.commands = 1;');
      const made = await run('plugins', 'manifest', folder);
      expect(made.stderr).toContain('exports no list called `commands`');
      expect(await readdir(plugins())).toEqual([encodeURIComponent(NAME)]);
    },
  );

  it(verifies('plugins.oclif-host', 'removes a plugin with its commands'), async () => {
    expect(await run('plugins', 'remove', NAME)).toMatchObject({
      exitCode: 0,
      stdout: `plugin ${NAME} removed`,
    });
    expect(await readdir(plugins())).toEqual([]);
    expect((await run('acme', 'models', 'a')).exitCode).toBe(64);
    expect((await run('plugins', 'list')).stdout).toBe('no plugins');
    const again = await run('plugins', 'remove', NAME, '-o', 'json');
    expect(again.exitCode).toBe(1);
    expect(documentOf(again).error.code).toBe('not_found');
  });
});
