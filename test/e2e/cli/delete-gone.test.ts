import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const FILE = `version: 1
namespace: team
models: [{ name: own/echo, routes: [{ provider: mock }] }]
keys: [{ name: ci }]
agents: [{ name: helper, model: own/echo }]
`;
const LINES = [
  'already gone model own/echo',
  'already gone key default/ci',
  'already gone agent default/helper',
];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ providers: [{ name: 'mock', type: 'mock' }] });
  await writeFile(join(gateway.directory, 'team.yaml'), FILE);
});
afterAll(() => gateway.stop());

function cli(...argv: string[]): Promise<CliRun> {
  return runCli([...argv, '-f', 'team.yaml', '--yes'], {
    cwd: gateway.directory,
    env: adminEnv(gateway),
  });
}

describe('gateway delete -f', () => {
  it(verifies('cli.delete.already-gone', 'exits 0 and says what was gone already'), async () => {
    const never = await cli('delete');
    expect([never.code, never.stdout.split('\n').slice(0, 3)]).toEqual([0, LINES]);
    expect((await cli('apply')).code).toBe(0);
    const removed = await cli('delete');
    expect([removed.code, removed.stdout]).toEqual([0, expect.not.stringContaining('gone')]);
    const again = await cli('delete');
    expect([again.code, again.stdout.split('\n').slice(0, 3)]).toEqual([0, LINES]);
  });

  it('takes --ignore-not-found, which changes nothing', async () => {
    const plain = await cli('delete', '-o', 'json');
    const ignoring = await cli('delete', '-o', 'json', '--ignore-not-found');
    expect([ignoring.code, ignoring.stdout]).toEqual([plain.code, plain.stdout]);
    expect(plain.json().data.gone).toContainEqual({ kind: 'key', identity: 'default/ci' });
  });
});
