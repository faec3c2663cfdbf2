import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv, runBinary } from '../../support/binary.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const COMMANDS = [
  ['plan'],
  ['plan', '--prune'],
  ['apply', '--yes'],
  ['apply', '--yes', '--prune'],
  ['diff'],
  ['drift'],
  ['delete', '--yes'],
];
const EMPTY = {
  'empty.yaml': '',
  'comments.yaml': '# nothing\n---\n# and nothing\n',
  'braces.yaml': '{}\n',
  'version.yaml': 'version: 1\n',
  'namespace.yaml': 'version: 1\nnamespace: team\n',
};
const OWN = 'version: 1\nmodels: [{ name: own/echo, routes: [{ provider: mock }] }]\n';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ providers: [{ name: 'mock', type: 'mock' }] });
  const write = (name: string, text: string) => writeFile(join(gateway.directory, name), text);
  for (const [name, text] of Object.entries(EMPTY)) await write(name, text);
  await mkdir(join(gateway.directory, 'all'));
  await write('all/a.yaml', '');
  await write('all/b.yaml', '# nothing\n');
  await write('own.yaml', OWN);
  await write('none.yaml', 'version: 1\nmodels: []\n');
  await write('null.yaml', 'null\n');
  await write('text.yaml', '\n${env:ABSENT}\n');
  expect((await cli('apply', '-f', 'own.yaml', '--yes')).code).toBe(0);
});
afterAll(() => gateway.stop());

function cli(...argv: string[]): Promise<CliRun> {
  return runCli(argv, { cwd: gateway.directory, env: adminEnv(gateway) });
}

async function models(): Promise<string[]> {
  const { body } = await gateway.admin('GET', '/admin/v1/models');
  return body.data.map(({ name }: { name: string }) => name);
}

describe('an input that declares nothing', () => {
  it.each(COMMANDS)(
    verifies('cli.input.empty', 'cli.apply.prune-scope', 'is refused by %s %s %s'),
    async (...argv) => {
      const words = argv.filter((word) => word !== undefined);
      for (const name of Object.keys(EMPTY)) {
        const refused = await cli(...words, '-f', name);
        expect([refused.code, refused.stdout], name).toEqual([3, '']);
        expect(refused.stderr).toContain(`${name}:1:1: error: nothing is declared here`);
      }
      expect(await models()).toEqual(['own/echo']);
    },
  );

  it('is refused by the binary, from stdin and from every file of a directory', async () => {
    const options = { cwd: gateway.directory, env: adminEnv(gateway), stdin: '# nothing\n' };
    const [piped, listed] = await Promise.all([
      runBinary(['apply', '-f', '-', '--yes', '--prune'], options),
      runBinary(['plan', '-f', 'all', '-o', 'json'], options),
    ]);
    expect([piped.code, piped.stderr]).toEqual([3, expect.stringContaining('stdin:1:1: error')]);
    const files = listed.json().data.diagnostics.map(({ file }: { file: string }) => file);
    expect([listed.code, files]).toEqual([3, ['all/a.yaml', 'all/b.yaml']]);
  });

  it(verifies('cli.input.empty', 'names its file, whatever else is wrong with it'), async () => {
    for (const [words, place] of [
      [['-f', 'null.yaml'], 'null.yaml:1:1'],
      [['-f', 'text.yaml'], 'text.yaml:2:1'],
      [['-f', 'own.yaml', '--overlay', 'null.yaml'], 'null.yaml:1:1'],
    ] as const) {
      const refused = await cli('plan', ...words);
      expect([refused.code, refused.stderr]).toEqual([
        3,
        expect.stringContaining(`${place}: error: expected a mapping`),
      ]);
    }
    const warned = await cli('plan', '-f', 'empty.yaml', '--overlay', 'unversioned.yaml');
    expect(warned.stderr).toContain('unversioned.yaml:1:1: error: cannot be read');
  });

  it('is none where something else declares, or says that there is to be nothing', async () => {
    await writeFile(join(gateway.directory, 'unversioned.yaml'), OWN.replace('version: 1\n', ''));
    const laid = await cli('plan', '-f', 'empty.yaml', '--overlay', 'unversioned.yaml');
    expect([laid.code, laid.stderr]).toEqual([
      0,
      'warning: empty.yaml:1:1: no version is given; 1 is assumed\n    hint: add version: 1\n',
    ]);
    const none = await cli('plan', '-f', 'none.yaml', '--prune');
    expect([none.code, none.stdout]).toEqual([0, expect.stringContaining('delete model own/echo')]);
  });
});
