// `node --test` starts the gateway of this directory and calls it; offline, and without any key.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startGateway } from './start-gateway.mjs';

let started;
before(async () => {
  started = await startGateway();
});
after(() => started?.stop());

test('the agent keeps notes, each session its own', async () => {
  const session = (await started.gateway('invoke', 'notes', 'remember: buy milk')).trim();
  const log = await started.gateway('tail', session, '--until-done');
  assert.match(log, /agent\.tool_use {2}edit \{"note":"buy milk"\}/);
  assert.match(log, /agent\.message {2}Noted: buy milk/);
  const answer = await started.gateway('invoke', 'notes', 'list', '--session', session, '-f');
  assert.equal(answer, '- buy milk\n');
  assert.match(await started.gateway('invoke', 'notes', 'list', '-f'), /^There are no notes/);
});

test('the files declare what runs', async () => {
  assert.match(await started.gateway('plan', '--exit-code'), /^no changes/m);
});
