// `node --test` starts a gateway, applies the files to it and calls what they declare; offline.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { startGateway } from './start-gateway.mjs';

const FILES = ['-f', 'config', '--overlay', 'overlays/staging.yaml'];

/** A value for each variable that the files name: offline, none has to be a real one. */
async function placeholders() {
  const root = new URL('../', import.meta.url);
  const config = await readdir(new URL('config/', root));
  const paths = [...config.map((name) => `config/${name}`), 'overlays/staging.yaml'];
  const texts = await Promise.all(paths.map((path) => readFile(new URL(path, root), 'utf8')));
  const names = texts.join('\n').matchAll(/\$\{(?:secret:)?env:(\w+)\}/g);
  return Object.fromEntries([...names].map(([, name]) => [name, `placeholder-of-${name}`]));
}

let started;
before(async () => {
  started = await startGateway(await placeholders());
});
after(() => started?.stop());

test('the files are applied, and then there is nothing to do', async () => {
  assert.match(
    await started.gateway('apply', ...FILES, '--yes'),
    /^\d+ applied, 0 failed, 0 blocked/m,
  );
  assert.match(await started.gateway('apply', ...FILES, '--yes'), /^no changes/m);
});

test('the Service answers', async () => {
  assert.equal(await started.gateway('invoke', 'help', 'Hello!', '--follow'), 'You said: Hello!\n');
});
