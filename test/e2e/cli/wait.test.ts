import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { runCli } from '../../cli/run-cli.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { adminEnv } from '../../support/binary.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const MESSAGES = { messages: [{ role: 'user', content: 'hi' }] };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: [{ name: 'echo', type: 'mock' }],
    models: [{ name: 'own/echo', routes: [{ provider: 'echo' }] }],
    agents: [{ name: 'helper', model: 'own/echo' }],
    services: [{ name: 'desk', agent_id: '${ref:agent.helper.id}', protocols: ['rest'] }],
  });
});
afterAll(() => gateway.stop());

function cli(...argv: string[]): Promise<CliRun> {
  return runCli(argv, { cwd: gateway.directory, env: adminEnv(gateway) });
}

async function runOf(model: string): Promise<string> {
  const body = { model, input: MESSAGES, async: true };
  return (await gateway.call('POST', '/v1/run', { body })).body.id;
}

// Each spends most of its time in the second between two looks.
describe.concurrent('gateway wait', () => {
  it(verifies('cli.wait', 'exits 0 when the condition holds'), async () => {
    const run = await runOf('own/echo');
    const completed = await cli('wait', run, '--timeout', '20s', '-o', 'json');
    expect([completed.code, completed.json().data]).toEqual([
      0,
      { target: `run ${run}`, condition: 'completed', outcome: 'holds', status: 'succeeded' },
    ]);
    const { session_id: id } = (await cli('invoke', 'desk', 'hi', '-o', 'json')).json().data;
    for (const words of [
      [id, '--for', 'status=idle'],
      ['service/desk', '--for', 'exists'],
      ['service/desk', '--for', 'status=active'],
      ['service/nope', '--for', 'deleted'],
    ]) {
      expect(await cli('wait', ...words)).toMatchObject({ code: 0, stderr: '' });
    }
  });

  it(verifies('cli.wait', 'sees what happens while it waits'), async () => {
    const [made, gone] = [
      cli('wait', 'key/later', '--for', 'exists', '--timeout', '60s'),
      cli('wait', 'key/later', '--for', 'status=revoked', '--timeout', '60s'),
    ];
    expect(await gone).toMatchObject({ code: 1, stdout: '' });
    await gateway.admin('POST', '/admin/v1/keys', { name: 'later', organization: 'default' });
    expect(await made).toMatchObject({ code: 0 });
    const revoked = cli('wait', 'key/later', '--for', 'status=revoked', '--timeout', '60s');
    await cli('keys', 'revoke', 'later', '--yes');
    expect(await revoked).toMatchObject({ code: 0, stdout: 'key later is revoked\n' });
  });

  it(verifies('cli.wait', 'exits 7 when it can no longer hold, 8 at the timeout'), async () => {
    const run = await runOf('own/echo');
    expect((await cli('wait', run)).code).toBe(0);
    const failed = await cli('wait', run, '--for', 'status=failed', '-o', 'json');
    expect([failed.code, failed.json()]).toMatchObject([
      7,
      { ok: false, data: { outcome: 'impossible' }, error: { code: 'condition_impossible' } },
    ]);
    const [late, absent, active] = await Promise.all([
      cli('wait', 'service/desk', '--for', 'deleted', '--timeout', '1s'),
      cli('wait', 'service/nope', '--for', 'exists', '--timeout', '1s'),
      cli('wait', 'service/desk', '--for', 'status=disabled', '--timeout', '1s'),
    ]);
    expect([late.code, late.stderr]).toEqual([
      8,
      'error: Service desk is active; it was not deleted in time\n' +
        'hint: run it again, or raise --timeout\n',
    ]);
    expect([absent.code, absent.stderr]).toEqual([
      8,
      'error: Service nope is not there; it did not appear in time\n' +
        'hint: run it again, or raise --timeout\n',
    ]);
    expect(active.stderr).toContain('Service desk is active; it was not disabled in time');
  });

  it('refuses what cannot be waited for', async () => {
    for (const words of [
      ['nonsense'],
      ['planet/mars'],
      ['service/desk'],
      ['service/desk', '--for', 'ready'],
    ]) {
      expect((await cli('wait', ...words)).code, words.join(' ')).toBe(64);
    }
    const unknown = await cli('wait', 'run_nope');
    expect([unknown.code, unknown.stderr]).toEqual([1, 'error: there is no run "run_nope"\n']);
    const ofSchedule = await cli('wait', 'drun_nope');
    expect([ofSchedule.code, ofSchedule.stderr]).toEqual([
      1,
      'error: there is no run "drun_nope"\nhint: `gateway runs list` lists what exists\n',
    ]);
  });

  it('tells its progress on a terminal only', async () => {
    const options = { cwd: gateway.directory, env: adminEnv(gateway) };
    const words = ['wait', 'service/desk', '--for', 'status=active'];
    const [shown, piped] = await Promise.all([
      runCli(words, { ...options, tty: true }),
      runCli(words, options),
    ]);
    expect([shown.stderr, piped.stderr]).toEqual(['Service desk is active\n', '']);
  });
});
