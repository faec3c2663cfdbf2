// `node --test` starts the gateway of this directory and calls it; offline, and without any key.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startGateway } from './start-gateway.mjs';

let started;
before(async () => {
  started = await startGateway();
});
after(() => started?.stop());

test('the agent looks an order up before it answers', async () => {
  const answer = await started.gateway('invoke', 'desk', 'Where is order A-17?', '--follow');
  assert.match(answer, /A-17: .*"status":"shipped"/);
});

test('the session tells what was called, and goes on', async () => {
  const session = (await started.gateway('invoke', 'desk', 'And A-17, really?')).trim();
  const log = await started.gateway('tail', session, '--until-done');
  assert.match(log, /agent\.mcp_tool_use {2}find_order \{"id":"A-17"\}/);
  assert.match(log, /agent\.mcp_tool_result/);
  const answer = await started.gateway('invoke', 'desk', 'Thanks!', '--session', session, '-f');
  assert.equal(answer, 'You said: Thanks!\n');
});

test('the files declare what runs', async () => {
  assert.match(await started.gateway('plan', '--exit-code'), /^no changes/m);
});
