// `node --test` starts a gateway, applies the files to it and calls what they declare; offline.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startGateway } from './start-gateway.mjs';

const FILES = ['-f', 'config', '--overlay', 'overlays/staging.yaml'];

let started;
before(async () => {
  started = await startGateway();
});
after(() => started?.stop());

test('the files are applied, and then there is nothing to do', async () => {
  assert.match(await started.gateway('apply', ...FILES, '--yes'), /^5 applied, 0 failed/m);
  assert.match(await started.gateway('apply', ...FILES, '--yes'), /^no changes/m);
});

test('the Service answers', async () => {
  assert.equal(await started.gateway('invoke', 'help', 'Hello!', '--follow'), 'You said: Hello!\n');
});
