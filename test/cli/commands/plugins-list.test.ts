import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toRecord } from '../../../src/cli/plugins/installed-plugin.ts';
import { newDirectory } from '../../support/gateway.ts';
import { runCli } from '../run-cli.ts';

const command = (...words: string[]) => ({
  name: words.join(' '),
  summary: 'Do it',
  args: [],
  flags: {},
});

/** A home in which plugins of these names are installed. */
async function homeWith(...names: string[]): Promise<Record<string, string>> {
  const home = await newDirectory();
  for (const name of names) {
    const folder = join(home, 'gateway', 'plugins', name.replace('/', '+'));
    await mkdir(folder, { recursive: true });
    const plugin = {
      name,
      version: '1.2.3',
      source: `${name}@1.2.3`,
      integrity: 'sha512-x',
      commands: [command(name, 'one'), command(name, 'two')],
    };
    await writeFile(join(folder, 'plugin.json'), toRecord(plugin as never));
  }
  return { XDG_DATA_HOME: home };
}

describe('the list of plugins', () => {
  it('says where there are none', async () => {
    const run = await runCli(['plugins', 'list'], { env: await homeWith() });
    expect([run.code, run.stdout]).toEqual([0, 'no plugins\n']);
    expect((await runCli(['plugins', 'list', '--json'])).json().data).toEqual([]);
  });

  it('tells their versions, commands and sources, by name', async () => {
    const env = await homeWith('zeta', 'alpha');
    const { stdout } = await runCli(['plugins', 'list'], { env });
    const [head, ...lines] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^NAME +VERSION +COMMANDS +FROM$/);
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ['alpha', '1.2.3', 'alpha one, alpha two', 'alpha@1.2.3'],
      ['zeta', '1.2.3', 'zeta one, zeta two', 'zeta@1.2.3'],
    ]);
    const names = (await runCli(['plugins', 'list', '--quiet'], { env })).stdout;
    expect(names).toBe('alpha\nzeta\n');
    const all = (await runCli(['plugins', 'list', '--json'], { env })).json().data;
    expect(all).toMatchObject([{ name: 'alpha', version: '1.2.3' }, { name: 'zeta' }]);
  });
});
