import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startFakeServer } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';
import { eventually, spawnGateway } from '../support/gateway.ts';
import { runCli } from './run-cli.ts';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';

const CONFIG = `version: 1
server: { listen: { host: 127.0.0.1, port: 0 }, store: { driver: memory } }
providers: [{ name: mock, type: mock }]
models: [{ name: acme/echo, routes: [{ provider: mock }] }]
`;

/** Places where nothing can be looked for: a file, a loop would be the same, and a closed directory. */
const homes: [string, () => string][] = [
  ['missing', () => join(base, 'missing')],
  ['unset', () => ''],
  ['a file', () => join(base, 'file')],
  ['a directory that nobody may enter', () => join(base, 'closed')],
];
let base = '';

beforeAll(async () => {
  base = await emptyDirectory();
  await writeFile(join(base, 'file'), '');
  await mkdir(join(base, 'closed'));
  await chmod(join(base, 'closed'), 0);
});
afterAll(() => chmod(join(base, 'closed'), 0o700));

/** The check of a start has every home. */
const starts = inTurn('home of a start', homes).map(([name]) => name);

describe.each(homes)('a home that is %s', (name, home) => {
  it(
    verifies('cli.home.unreadable', 'is no fault of a command that needs nothing there'),
    async () => {
      const cwd = await emptyDirectory();
      await writeFile(join(cwd, 'gateway.yaml'), CONFIG);
      const server = await startFakeServer(() => ({ body: { data: [] } }));
      onTestFinished(() => server.close());
      const env = { HOME: home(), GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test' };
      const lines = [['version'], ['help'], ['validate'], ['models', 'list'], ['start', '--check']];
      for (const argv of lines) {
        const { code, stderr } = await runCli(argv, { cwd, env });
        expect([argv, code, stderr]).toEqual([argv, 0, '']);
      }
    },
  );

  it.runIf(starts.includes(name))(
    verifies('cli.home.unreadable', 'does not keep a gateway from its start'),
    async () => {
      const cwd = await emptyDirectory();
      const file = join(cwd, 'gateway.yaml');
      await writeFile(file, CONFIG);
      const started = spawnGateway(['start', '--config', file], { cwd, env: { HOME: home() } });
      onTestFinished(async () => {
        if (started.exitCode !== null) return;
        started.kill('SIGTERM');
        await once(started, 'exit');
      });
      await eventually(() => started.log().includes('gateway listening on'));
      expect(started.log()).not.toContain('EACCES');
    },
  );

  it('is told in one sentence by a command that writes there', async () => {
    const env = { HOME: home(), GATEWAY_SERVER: 'http://127.0.0.1:1' };
    const cwd = await emptyDirectory();
    const isOpenToRoot = home().endsWith('closed') && process.getuid?.() === 0;
    if (home().endsWith('missing') || isOpenToRoot) return;
    await mkdir(join(cwd, 'x'));
    await writeFile(join(cwd, 'x', 'package.json'), '{"name":"x","version":"1.0.0"}');
    const { code, stderr } = await runCli(['plugins', 'install', './x'], { cwd, env });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: (found no directory for plugins|\/.+ cannot be written \(\w+\))\nhint: set .*XDG_DATA_HOME.*\n$/,
    );
  });
});
