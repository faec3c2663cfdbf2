// `node --test` starts the gateway of this directory and calls it; offline, and without any key.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { startGateway } from './start-gateway.mjs';

const file = await readFile(new URL('../gateway.yaml', import.meta.url), 'utf8');
// No vendor is called here, so any value will do where a key is missing.
const names = [...file.matchAll(/\$\{secret:env:(\w+)\}/g)].map(([, name]) => name);

let started;
before(async () => {
  started = await startGateway(Object.fromEntries(names.map((name) => [name, 'unused'])));
});
after(() => started?.stop());

test('a model answers', async () => {
  assert.equal(await started.gateway('chat', 'mock/echo', 'hello'), 'You said: hello\n');
});

test('every declared model is in the catalog', async () => {
  const [, models] = file.split(/^models:/m);
  const declared = [...models.matchAll(/^ {2}- name: (\S+)/gm)].map(([, name]) => name);
  const listed = (await started.gateway('models', 'list', '--quiet')).split('\n');
  for (const name of declared) assert.ok(listed.includes(name), name);
});

test('the files declare what runs', async () => {
  assert.match(await started.gateway('plan', '--exit-code'), /^no changes/m);
});
