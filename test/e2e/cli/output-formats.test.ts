import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { runCli } from '../../cli/run-cli.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const LISTS = COMMANDS.map(({ name }) => name).filter((name) => name.endsWith(' list'));
const OWN = { name: 'own/echo', routes: [{ provider: 'echo' }] };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: [{ name: 'echo', type: 'mock' }],
    models: [OWN, { ...OWN, name: 'own/other' }],
    agents: [{ name: 'helper', model: 'own/echo' }],
  });
});
afterAll(() => gateway.stop());

function cli(...argv: string[]): Promise<CliRun> {
  return runCli(argv, { cwd: gateway.directory, env: adminEnv(gateway) });
}

/** What was printed, without the end of its last line. */
const linesOf = (run: CliRun | undefined): string | undefined => run?.stdout.replace(/\n$/, '');

describe('-o yaml, name and jsonpath', () => {
  it.each([
    [['agents', 'list'], 'agent/helper', ['{.items[*].name}', 'helper'] as const],
    [['agents', 'get', 'helper'], 'agent/helper', ['.model.id', 'own/echo'] as const],
    [
      ['models', 'list'],
      'model/own/echo\nmodel/own/other',
      ['{.items[1].id}', 'own/other'] as const,
    ],
    [['providers', 'get', 'echo'], 'provider/echo', ['{.provider_type}', 'mock'] as const],
    [['services', 'list'], '', ['{.items[*].name}', ''] as const],
  ])(
    verifies('cli.output.formats', 'print what %j lists or gets'),
    async (words, names, [expression, value]) => {
      const run = (format: string) => cli(...words, '-o', format);
      const [json, yaml, name, path] = await Promise.all(
        ['json', 'yaml', 'name', `jsonpath=${expression}`].map(run),
      );
      expect([yaml?.code, parse(yaml?.stdout ?? '')]).toEqual([0, json?.json().data]);
      expect([name?.code, linesOf(name)]).toEqual([0, names]);
      expect([path?.code, linesOf(path)]).toEqual([0, value]);
    },
  );

  it.each(LISTS)('are taken by gateway %s', async (name) => {
    const env = { ...adminEnv(gateway), XDG_DATA_HOME: gateway.directory };
    for (const format of ['yaml', 'name', 'jsonpath={.items[*].id}']) {
      const listed = await runCli([...name.split(' '), '-o', format], {
        cwd: gateway.directory,
        env,
      });
      expect([listed.code, listed.stderr], format).toEqual([0, '']);
    }
  });

  it(verifies('cli.output.formats', 'refuse a bad expression before a call'), async () => {
    for (const expression of ['', '{.items[', '{.a[?(@.b==c)]}']) {
      const refused = await runCli(['keys', 'list', '-o', `jsonpath=${expression}`], {
        cwd: gateway.directory,
        env: { GATEWAY_SERVER: 'http://127.0.0.1:1', GATEWAY_API_KEY: 'sk-x' },
      });
      expect([refused.code, refused.stdout]).toEqual([64, '']);
      expect(refused.stderr).toContain(`-o jsonpath=${expression}: `);
    }
    const elsewhere = await cli('whoami', '-o', 'yaml');
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      64,
      expect.stringContaining('--output must be one of text, json, not "yaml"'),
    ]);
  });

  it('tell a failure as text does, and of nothing print nothing', async () => {
    const missing = await cli('keys', 'get', 'nope', '-o', 'yaml');
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toContain('there is no key "nope"');
    const ignored = await cli('keys', 'get', 'nope', '--ignore-not-found', '-o', 'yaml');
    expect(ignored).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });
});
