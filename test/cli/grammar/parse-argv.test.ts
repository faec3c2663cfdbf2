import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { GLOBAL_FLAGS } from '../../../src/cli/grammar/global-flags.ts';
import { parseArgv } from '../../../src/cli/grammar/parse-argv.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';

const parse = (...argv: string[]) => {
  const { command, ...rest } = parseArgv({ commands: COMMANDS, globals: GLOBAL_FLAGS }, argv);
  return { ...rest, command: command.name };
};

describe('command line', () => {
  it(verifies('cli.exit.usage-64', 'takes global flags before and after the subcommand'), () => {
    const globals = { output: 'json', server: 'http://a' };
    expect(parse('-o', 'json', '--server=http://a', 'keys', 'list').globals).toEqual(globals);
    expect(parse('keys', '--server', 'http://a', 'list', '-ojson').globals).toEqual(globals);
    expect(parse('keys', 'list', '-o', 'json', '--server', 'http://a').globals).toEqual(globals);
  });

  it('lets the flag nearest to the command win', () => {
    expect(parse('-o', 'text', 'keys', 'list', '-o', 'json').globals).toEqual({ output: 'json' });
  });

  it(verifies('cli.exit.usage-64', 'never swallows an argument behind a repeatable flag'), () => {
    const parsed = parse('keys', 'create', '--scope', 'inference', '--scope', 'models', 'my-app');
    expect(parsed.args).toEqual({ name: 'my-app' });
    expect(parsed.flags).toEqual({ scope: ['inference', 'models'] });
  });

  it('names the files by -f wherever -c does', () => {
    const named = COMMANDS.filter(({ flags = [] }) => flags.some(({ short }) => short === 'c'));
    expect(named.length).toBeGreaterThan(8);
    for (const { name, args = [] } of named) {
      const words = args.flatMap(({ required }) => (required ? ['x'] : []));
      for (const flag of ['-c', '-f', '--file', '--config']) {
        const { flags } = parse(...name.split(' '), flag, 'a.yaml', ...words);
        expect(flags, `${name} ${flag}`).toEqual({ config: ['a.yaml'] });
      }
    }
  });

  it('takes what follows -- as it is', () => {
    expect(parse('chat', 'm', '--', '--json').args).toEqual({ model: 'm', prompt: '--json' });
  });

  it('keeps the value of a flag that looks like another flag', () => {
    expect(parse('chat', 'm', 'hi', '--system', '-o is a flag').flags).toEqual({
      system: '-o is a flag',
    });
  });

  it('takes another name of a flag, and refuses both at once', async () => {
    expect(parse('runs', 'list', '--schedule', 'report').flags).toEqual({ schedule: 'report' });
    expect(parse('runs', 'list', '--deployment', 'report').flags).toEqual({ schedule: 'report' });
    const both = await runCli(['runs', 'list', '--schedule', 'a', '--deployment', 'b']);
    expect(both.code).toBe(64);
    expect(both.stderr).toContain('--schedule and --deployment are one flag');
  });

  it.each([
    ['unknown command', ['keyz'], 'Did you mean keys?'],
    ['unknown subcommand', ['keys', 'crate'], 'Did you mean create?'],
    ['unknown flag', ['keys', 'list', '--organisation', 'x'], 'Did you mean --organization?'],
    ['unknown global flag', ['--sever', 'x', 'keys', 'list'], 'Did you mean --server?'],
    ['missing argument', ['keys', 'get'], 'gateway keys get --help'],
    ['empty argument', ['invoke', ''], 'gateway invoke --help'],
    ['missing value', ['keys', 'list', '--organization'], 'gateway keys list --help'],
    ['missing subcommand', ['keys'], 'gateway keys --help'],
    ['too many arguments', ['keys', 'get', 'a', 'b'], 'gateway keys get --help'],
  ])('%s', async (_title, argv, hint) => {
    const run = await runCli(argv);
    expect(run).toMatchObject({ code: 64, stdout: '' });
    expect(run.stderr).toContain('error: ');
    expect(run.stderr).toContain(hint);
    const asJson = await runCli([...argv.slice(0, 1), ...argv.slice(1), '--json']);
    if (argv.at(-1) !== '--organization') {
      expect(asJson.code).toBe(64);
      expect(asJson.json()).toMatchObject({ ok: false, data: null, error: { code: 'usage' } });
    }
  });

  it(
    verifies('cli.exit.usage-64', 'refuses unknown commands, flags and missing arguments with 64'),
    async () => {
      for (const argv of [
        ['nope'],
        ['keys', 'list', '--nope'],
        ['keys', 'get'],
        ['keys', 'create', 'a', '--rpm-cap', '0'],
      ]) {
        expect((await runCli(argv)).code).toBe(64);
      }
    },
  );
});
