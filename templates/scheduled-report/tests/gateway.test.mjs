// `node --test` starts the gateway of this directory and calls it; offline, and without any key.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startGateway } from './start-gateway.mjs';

let started;
before(async () => {
  started = await startGateway();
});
after(() => started?.stop());

test('a run reads the numbers and reports on them', async () => {
  const log = await started.gateway('trigger', 'morning-report', '--tail');
  assert.match(log, /agent\.mcp_tool_use {2}read_sales \{"day":"latest"\}/);
  assert.match(log, /agent\.message {2}.*2026-11-20: 57 orders, 2610\.00 EUR, best seller kettle/);
});

test('the run stays, with what became of its session', async () => {
  const run = JSON.parse(await started.gateway('trigger', 'morning-report', '--wait', '--json'));
  const runs = await started.gateway('runs', 'list', '--schedule', 'morning-report');
  assert.match(runs, new RegExp(`manual +completed .*${run.data.id}`));
});

test('it fires on weekdays at seven, Berlin time', async () => {
  const shown = JSON.parse(await started.gateway('deployments', 'get', 'morning-report', '--json'));
  const { status, schedule } = shown.data;
  assert.equal(status, 'active');
  assert.equal(schedule.upcoming_runs_at.length, 5);
  for (const time of schedule.upcoming_runs_at) {
    const local = new Date(time).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' });
    assert.equal(local, '07:00:00');
  }
});

test('the files declare what runs', async () => {
  assert.match(await started.gateway('plan', '--exit-code'), /^no changes/m);
});
