// `node --test` starts the gateway of this directory and calls it; offline, and without any key.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startGateway } from './start-gateway.mjs';

let started;
before(async () => {
  started = await startGateway();
});
after(() => started?.stop());

test('a model answers', async () => {
  assert.equal(await started.gateway('chat', 'mock/echo', 'hello'), 'You said: hello\n');
});

test('the second route answers when the first is down', async () => {
  assert.equal(await started.gateway('chat', 'mock/failover', 'hello'), 'You said: hello\n');
});

test('the files declare what runs', async () => {
  assert.match(await started.gateway('plan', '--exit-code'), /^no changes/m);
});
