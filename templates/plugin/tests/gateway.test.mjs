// `npm test` packs the plugin, installs the tarball for a user without any other, and runs it against
// the gateway of this directory; offline, and without any key.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startGateway } from './start-gateway.mjs';

const run = promisify(execFile);
const cwd = dirname(import.meta.dirname);

let home;
let started;
before(async () => {
  home = await mkdtemp(join(tmpdir(), 'gateway-plugin-'));
  process.env.XDG_DATA_HOME = home;
  await run('npm', ['pack', '--pack-destination', home], { cwd });
  const tarball = (await readdir(home)).find((name) => name.endsWith('.tgz'));
  await run('gateway', ['plugins', 'install', join(home, tarball), '--yes'], { cwd });
  started = await startGateway();
});
after(async () => {
  await started?.stop();
  await rm(home, { recursive: true, force: true });
});

test('the command prints lines for people', async () => {
  assert.equal(await started.gateway('report', 'mock/e', '--limit', '1'), 'mock/echo\n');
});

test('with -o json it prints one document', async () => {
  const { ok, data } = JSON.parse(await started.gateway('report', '-o', 'json'));
  assert.equal(ok, true);
  assert.deepEqual(data, { models: ['mock/echo', 'mock/embedding'], total: 2 });
});

test('it fails when there is nothing to report', async () => {
  await assert.rejects(
    started.gateway('report', 'none/'),
    /plugin gateway-plugin-report: no model/,
  );
});

test('help tells of it', async () => {
  assert.match(await started.gateway('report', '--help'), /Say which models can be asked/);
});
