import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it, onTestFinished } from 'vitest';
import { startFakeServer } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { emptyDirectory } from './run-cli.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BINARY = join(ROOT, 'bin/gateway.js');

/** Writes down the address of every module that is loaded. */
const RECORDER = `
import { register } from 'node:module';
const hooks = \`
import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED, url + '\\\\n');
  return next(url, context);
}\`;
register('data:text/javascript,' + encodeURIComponent(hooks));
`;

/** Modules of the package, by their place below `dist`, and of others, that a command line loads. */
async function loadedBy(argv: string[], env: Record<string, string> = {}) {
  const cwd = await emptyDirectory();
  const list = join(cwd, 'loaded');
  const recorder = `data:text/javascript,${encodeURIComponent(RECORDER)}`;
  await execa(process.execPath, ['--import', recorder, BINARY, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', LOADED: list, ...env },
    extendEnv: false,
    stdin: 'ignore',
  });
  const urls = (await readFile(list, 'utf8')).trimEnd().split('\n');
  const files = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
  const dist = join(ROOT, 'dist/');
  return {
    own: files.filter((file) => file.startsWith(dist)).map((file) => file.slice(dist.length)),
    packages: files.filter((file) => file.includes('/node_modules/')),
  };
}

const roomsOf = (own: readonly string[]) => new Set(own.map((file) => file.split('/')[0]));

it(
  verifies('cli.startup', 'help loads a few small files and no package, so that it starts at once'),
  async () => {
    for (const argv of [['--help'], ['keys', 'create', '--help'], ['version']]) {
      const { own, packages } = await loadedBy(argv);
      expect(packages).toEqual([]);
      expect(own).toContain('cli/main.js');
      expect([...roomsOf(own)]).toEqual(['cli']);
      const commands = own.filter((file) => file.startsWith('cli/commands/'));
      expect(commands).toHaveLength(1);
      // Each costs half a millisecond and more; a bare Node.js takes about 40.
      expect(own.length).toBeLessThanOrEqual(20);
    }
  },
);

it(
  verifies('cli.startup', 'configuration and server are loaded by the commands that need them'),
  async () => {
    const server = await startFakeServer(() => ({ body: { status: 'ok' } }));
    onTestFinished(() => server.close());
    const remote = await loadedBy(['api', 'GET', '/healthz'], { GATEWAY_SERVER: server.url });
    expect(roomsOf(remote.own)).toContain('client');
    for (const room of ['config', 'server', 'store', 'inference'])
      expect(roomsOf(remote.own)).not.toContain(room);
    const local = await loadedBy(['schema']);
    expect(roomsOf(local.own)).toContain('config');
    expect(roomsOf(local.own)).not.toContain('server');
    expect(roomsOf(local.own)).not.toContain('store');
  },
);
