import { mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { BINARY, newDirectory } from '../support/gateway.ts';
import { builtMain } from '../support/process/built-command.ts';
import { startRegistry } from '../support/registry.ts';
import type { Registry } from '../support/registry.ts';
import { ROOT } from '../docs/reader.ts';
import { putPlainNpm } from './plain-npm.ts';
import { runCli } from './run-cli.ts';

const NAME = '@oclif/plugin-autocomplete';

let registry: Registry;
let home: string;
beforeAll(async () => {
  registry = await startRegistry(ROOT);
  home = await realpath(await newDirectory());
  await mkdir(join(home, 'home'));
});
afterAll(async () => {
  await registry.close();
  await rm(home, { recursive: true, force: true });
});

const environment = () => ({
  PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
  HOME: join(home, 'home'),
  npm_config_registry: registry.url,
  npm_config_fetch_retries: '0',
});

async function runIn(more: Record<string, string>, ...words: string[]) {
  const main = await builtMain();
  const env = { ...environment(), ...more };
  const { code, stdout } = await runCli(words, { cwd: home, env, main });
  return { exitCode: code, stdout: stdout.replace(/\n$/, '') };
}
const run = (...words: string[]) => runIn({}, ...words);

/** As a process, where the plugin asks for the home of the process. */
const runBinary = (...words: string[]) =>
  execa(process.execPath, [BINARY, ...words], {
    cwd: home,
    env: environment(),
    extendEnv: false,
    input: '',
  });

const documentOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout);

describe('a published plugin of oclif', () => {
  it(
    verifies('plugins.oclif.unchanged', 'is installed from a registry and runs as it is'),
    async () => {
      const installed = await run('plugins', 'install', NAME, '--yes', '-o', 'json');
      expect(documentOf(installed)).toMatchObject({
        ok: true,
        data: {
          name: NAME,
          commands: ['autocomplete', 'autocomplete create', 'autocomplete script'],
        },
      });

      const help = await run('help', 'autocomplete');
      expect(help.stdout).toContain('gateway autocomplete [flags] [shell]');
      expect(help.stdout).toContain('-r, --refresh-cache');
      expect(help.stdout).toContain('Display autocomplete installation instructions');
      expect((await run('complete-words', 'autoc')).stdout).toBe('autocomplete');

      const shown = await runBinary('autocomplete', 'bash');
      expect(shown).toMatchObject({ exitCode: 0 });
      expect(shown.stdout).toContain('Setup Instructions for GATEWAY CLI Autocomplete');
      expect(shown.stdout).toContain('gateway autocomplete script bash');
      const made = await readdir(join(home, 'home/.cache', NAME, 'autocomplete'));
      expect(made).toContain('bash_setup');

      const quick = await runBinary('autocomplete', '-r', '-o', 'json');
      expect(documentOf(quick)).toMatchObject({ ok: true, data: null });
      const nested = documentOf(await runBinary('autocomplete', 'script', 'bash', '-o', 'json'));
      expect(nested.data).toContain('GATEWAY_AC_BASH_SETUP_PATH=');

      expect((await run('autocomplete', '--other')).exitCode).toBe(64);
      const wrong = await run('autocomplete', 'fish', '-o', 'json');
      expect(documentOf(wrong).error.message).toMatch(/^plugin @oclif\/plugin-autocomplete: /);
    },
  );

  it(verifies('plugins.oclif.unchanged', 'has its hooks, flags and topics'), async () => {
    const core = pathToFileURL(join(ROOT, 'node_modules/@oclif/core/lib/index.js'));
    const hooks = Object.fromEntries(
      ['init', 'prerun', 'postrun'].map((event) => [event, `./hooks/${event}.js`]),
    );
    const files = {
      'package.json': JSON.stringify({
        name: 'plain',
        version: '1.0.0',
        type: 'module',
        oclif: { commands: './commands', hooks, topics: { plain: { description: 'Plain words' } } },
      }),
      'commands/plain/say.js': `import { Command, Flags } from '${core.href}';
export default class Say extends Command {
  static enableJsonFlag = true;
  static flags = { name: Flags.string({ char: 'm', required: true }) };
  async run() {
    const { flags } = await this.parse(Say);
    this.log('hello %s', flags.name);
    return flags.name === 'none' ? undefined : { said: flags.name };
  }
}`,
      ...Object.fromEntries(
        Object.keys(hooks).map((event) => [
          `hooks/${event}.js`,
          `export default async function ({ result }) { this.log('${event}', result ?? ''); }`,
        ]),
      ),
    };
    const folder = join(home, 'plain');
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    expect((await run('plugins', 'manifest', folder)).exitCode).toBe(0);
    const PATH = await putPlainNpm(join(home, 'npm'));
    expect((await runIn({ PATH }, 'plugins', 'install', folder, '--yes')).exitCode).toBe(0);

    const said = await run('plain', 'say', '-m', 'you');
    expect(said.stdout).toBe("init \nprerun \nhello you\npostrun { said: 'you' }");
    const data = async (name: string) =>
      documentOf(await run('plain', 'say', '--name', name, '--json')).data;
    expect(await data('you')).toEqual({ said: 'you' });
    expect(await data('none')).toBe('init \nprerun \nhello none\npostrun');
    expect((await run('help', 'plain')).stdout).toContain('Plain words');
    const missing = documentOf(await run('plain', 'say', '-o', 'json'));
    expect(missing.error.message).toMatch(/^plugin plain: .*name/s);
  });
});
