import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it, onTestFinished } from 'vitest';
import { startFakeServer } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';
import { loadedBy } from './loaded-modules.ts';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';
import { runCli } from './run-cli.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BINARY = join(ROOT, 'bin/gateway.js');

/** Names of the packages that files belong to. */
const namesOf = (files: readonly string[]) =>
  [
    ...new Set(files.map((file) => /.*\/node_modules\/((@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? '')),
  ].toSorted();
const roomsOf = (own: readonly string[]) => new Set(own.map((file) => file.split('/')[0]));

/** Files of the store beside what backends say of themselves; the schema names their drivers. */
const workingStore = (own: readonly string[]) =>
  own.filter(
    (file) =>
      file.startsWith('store/') &&
      !/^store\/(backend|store|unstorage\/file-drivers|backends\/(registry|[\w-]+\/backend))\.ts$/.test(
        file,
      ),
  );

it(
  verifies('cli.startup', 'help loads a few small files and no package, so that it starts at once'),
  async () => {
    const helps = [
      ['keys', '--help'],
      ['keys', 'create', '--help'],
    ];
    for (const argv of [...inTurn('help of commands', helps), ['completion', 'bash']]) {
      const { files, own, packages } = await loadedBy(argv);
      expect(packages).toEqual([]);
      expect(own.filter((file) => file.endsWith('/main.ts'))).toHaveLength(1);
      const others = own.filter(
        (file) => !/^(cli|core)\/|^client\/(.*\/)?client-error\.ts$/.test(file),
      );
      expect(others).toEqual([]);
      const commands = own.filter((file) => file.startsWith('cli/commands/'));
      expect(commands).toHaveLength(1);
      expect(files.length).toBeLessThanOrEqual(5);
    }
  },
);

it(
  verifies('cli.startup', 'version and list of commands are told without the table of commands'),
  async () => {
    const versions = [['--version'], ['-V'], ['version']];
    const lists = [['--help'], ['-h'], ['help'], []];
    for (const argv of [...inTurn('the version', versions), ...inTurn('the list', lists)]) {
      const { files, own, packages } = await loadedBy(argv);
      expect(packages).toEqual([]);
      expect(own.filter((file) => file.startsWith('cli/tables/'))).toEqual([]);
      expect(files.length).toBeLessThanOrEqual(2);
    }
  },
);

it('the list of commands is the one that the command line makes', async () => {
  const { PATH = '' } = process.env;
  const shown = await execa(process.execPath, [BINARY], { env: { PATH }, extendEnv: false });
  const made = await runCli(['help']);
  expect(`${shown.stdout}\n`).toBe(made.stdout);
  expect(await readFile(join(ROOT, 'dist/help.txt'), 'utf8')).toContain('\u001b[1m');
});

it(
  verifies('cli.startup', 'configuration and server are loaded by the commands that need them'),
  async () => {
    const server = await startFakeServer(() => ({ body: { status: 'ok' } }));
    onTestFinished(() => server.close());
    const remote = await loadedBy(['api', 'GET', '/healthz'], {
      env: { GATEWAY_SERVER: server.url },
    });
    expect(roomsOf(remote.own)).toContain('client');
    for (const room of ['config', 'server', 'store', 'inference'])
      expect(roomsOf(remote.own)).not.toContain(room);
    const local = await loadedBy(['schema']);
    expect(roomsOf(local.own)).toContain('config');
    expect(roomsOf(local.own)).not.toContain('server');
    expect(workingStore(local.own)).toEqual([]);
  },
);

it(
  verifies('cli.startup', 'a list is a dozen files of ours and the parser, without fetch'),
  async () => {
    const page = { object: 'list', data: [], has_more: false, first_id: null, last_id: null };
    const server = await startFakeServer(() => ({ body: { ...page, next_page: null } }));
    onTestFinished(() => server.close());
    // Words that name no class of fetch: the first use of one loads all of it, so here it fails.
    const forbidden = ['fetch', 'Response', 'Request', 'Headers', 'FormData'].map(
      (name) =>
        `Object.defineProperty(globalThis,'${name}',{get(){throw new Error('${name} used')}});`,
    );
    const env = {
      GATEWAY_SERVER: server.url,
      GATEWAY_API_KEY: 'key',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(forbidden.join(''))}`,
    };
    for (const kind of inTurn('kind of a list', ['keys', 'models'])) {
      const { files, own, packages } = await loadedBy([kind, 'list'], { env });
      expect(namesOf(packages)).toEqual(['commander']);
      for (const room of ['config', 'server', 'store', 'resources', 'providers'])
        expect(roomsOf(own)).not.toContain(room);
      expect(files.length).toBeLessThanOrEqual(13);
    }
  },
);

it(
  verifies(
    'cli.startup',
    'validate loads what reads files and schemas, and nothing that calls or serves',
  ),
  async () => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, 'gateway.yaml'), 'version: 1\n');
    const { files, own, packages } = await loadedBy(['validate'], { cwd });
    expect(namesOf(packages)).toEqual(['commander', 'croner', 'leven', 'yaml', 'zod']);
    for (const room of ['server', 'inference', 'runtime']) expect(roomsOf(own)).not.toContain(room);
    expect(workingStore(own)).toEqual([]);
    expect(own.filter((file) => file.endsWith('/http.ts'))).toEqual([]);
    expect(files.length).toBeLessThanOrEqual(12);
  },
);
