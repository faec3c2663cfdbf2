import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ providers: [{ name: 'mock', type: 'mock' }] });
  const root = join(gateway.directory, 'config');
  await mkdir(join(root, 'b', 'deep'), { recursive: true });
  await mkdir(join(root, '.git'));
  const write = (path: string, text: string) => writeFile(join(root, path), text);
  const model = (name: string) => `models: [{ name: own/${name}, routes: [{ provider: mock }] }]\n`;
  await write('z.yaml', `version: 1\n${model('z')}`);
  await write('b/deep/one.yml', model('one'));
  await write('b/two.json', JSON.stringify({ version: 1 }));
  await write('b/notes.txt', 'no configuration');
  await write('.git/hidden.yaml', 'broken: [');
});
afterAll(() => gateway.stop());

function cli(...argv: string[]): Promise<CliRun> {
  return runCli(argv, { cwd: gateway.directory, env: adminEnv(gateway) });
}

const identities = ({ json }: CliRun): string[] =>
  json().data.actions.map(({ identity }: { identity: string }) => identity);

describe('-R', () => {
  it(verifies('cli.select.recursive', 'reads files of sub-folders in sorted order'), async () => {
    const checked = await cli('validate', '-R', '-f', 'config', '-o', 'json');
    expect([checked.code, checked.json().data.files]).toEqual([
      0,
      ['config/b/deep/one.yml', 'config/b/two.json', 'config/z.yaml'],
    ]);
    const planned = await cli('plan', '-f', 'config', '--recursive', '-o', 'json');
    expect(identities(planned)).toEqual(['own/one', 'own/z']);
    const flat = await cli('plan', '-f', 'config', '-o', 'json');
    expect(identities(flat)).toEqual(['own/z']);
  });

  it('ends where a link leads back', async () => {
    await mkdir(join(gateway.directory, 'loop'));
    await symlink('.', join(gateway.directory, 'loop', 'again'));
    const refused = await cli('validate', '-R', '-f', 'loop');
    expect([refused.code, refused.stdout]).toEqual([3, expect.stringMatching(/^loop:1:1: error/)]);
  });
});

describe('gateway plan show --exit-code', () => {
  it(
    verifies('cli.plan.show-exit-code', 'is 2 for a plan with changes and 0 for one without'),
    async () => {
      await cli('plan', '-f', 'config', '--out', 'some.json');
      await cli('apply', '-f', 'config', '--yes');
      await cli('plan', '-f', 'config', '--out', 'none.json');
      const [some, plain, none] = await Promise.all([
        cli('plan', 'show', 'some.json', '--exit-code'),
        cli('plan', 'show', 'some.json'),
        cli('plan', 'show', 'none.json', '--exit-code'),
      ]);
      expect([some.code, plain.code, none.code]).toEqual([2, 0, 0]);
      expect(none.stdout).toContain('no changes');
    },
  );
});
