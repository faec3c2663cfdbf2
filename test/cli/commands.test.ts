import { describe, expect, it } from 'vitest';
import { findCommand, flagEnv, parentOf, shownName, type FlagSpec } from '../../src/cli/command.ts';
import { COMMANDS as TABLE } from '../../src/cli/commands.ts';
import { GLOBAL_FLAGS } from '../../src/cli/grammar/global-flags.ts';
import { COMMAND_GROUPS, flagRow, usageOf } from '../../src/cli/grammar/help.ts';
import { withFlags } from '../../src/cli/grammar/load-flags.ts';
import { renderDocs } from '../../src/cli/grammar/render-docs.ts';
import { KINDS, type KindFacts } from '../../src/core/kinds.ts';
import { CONFIG_KINDS } from '../../src/config/objects/kinds.ts';
import { verifies } from '../requirements.ts';
import { runCli } from './run-cli.ts';

const COMMANDS = await withFlags(TABLE);

const surface = COMMANDS.map((command) =>
  [
    usageOf(command) + (command.aliases?.length ? `  (also ${command.aliases.join(', ')})` : ''),
    ...(command.flags ?? []).map((flag) => `    ${flagRow(flag, command).join('  ')}`),
  ].join('\n'),
).join('\n');

describe('command table', () => {
  it('is the surface that was published', async () => {
    await expect(`${surface}\n`).toMatchFileSnapshot('./commands.snapshot');
  });

  it('is what docs/cli.md says', async () => {
    await expect(renderDocs(COMMANDS)).toMatchFileSnapshot('../../docs/cli.md');
  });

  it.each(Object.entries<KindFacts>(KINDS))(
    'has the commands on %s that the list of kinds says, and no other of these verbs',
    (collection, { verbs }) => {
      const all = new Set(Object.values<KindFacts>(KINDS).flatMap((kind) => kind.verbs));
      const there = [...all].filter((verb) =>
        COMMANDS.some(({ name }) => name === `${collection} ${verb}`),
      );
      expect(there.toSorted()).toEqual([...verbs].toSorted());
    },
  );

  it('has a group for every subcommand, and an example for every command', () => {
    for (const { name, examples, hidden } of COMMANDS) {
      const parent = parentOf(name);
      if (parent !== '') expect(COMMANDS.some((command) => command.name === parent)).toBe(true);
      if (!hidden) expect(examples.length, name).toBeGreaterThan(0);
    }
  });

  it(
    verifies(
      'cli.binary',
      'gives every flag an environment variable, no two the same for one command',
    ),
    () => {
      for (const command of COMMANDS) {
        const flags = command.flags ?? [];
        const variables = [
          ...flags.map((flag) => flagEnv(flag, command)),
          ...GLOBAL_FLAGS.map((flag) => flagEnv(flag)),
        ];
        expect(new Set(variables).size, command.name).toBe(variables.length);
        for (const variable of variables) expect(variable).toMatch(/^GATEWAY_[A-Z0-9_]+$/);
      }
    },
  );

  it(
    verifies(
      'cli.binary',
      'answers --help of every command with usage, examples and flags, exit 0',
    ),
    async () => {
      for (const command of COMMANDS) {
        const run = await runCli([...command.name.split(' '), '--help']);
        expect(run.code, command.name).toBe(0);
        expect(run.stdout).toContain(usageOf(command));
        for (const example of command.examples) expect(run.stdout).toContain(example.command);
        for (const flag of command.flags ?? []) {
          expect(run.stdout).toContain(`--${flag.name}`);
          expect(run.stdout).toContain(flagEnv(flag, command));
        }
      }
    },
  );

  it(verifies('cli.no-secret-flags', 'has no flag that takes a secret as its value'), () => {
    const suspicious = /key|secret|token|password|credential/;
    // Other values than names of secrets are refused (test/e2e/cli/create.test.ts).
    const takesText = ({ type, value }: FlagSpec) => type !== 'boolean' && value !== 'env:NAME';
    // They take names of files and of secrets, and numbers.
    const harmless = new Set([
      'api-key-file',
      'write-secret',
      'key',
      'secret-key',
      'group-key',
      'max-output-tokens',
      'match.keys',
    ]);
    for (const { name, flags = [] } of [...COMMANDS, { name: 'global', flags: GLOBAL_FLAGS }]) {
      for (const flag of flags.filter(takesText)) {
        if (suspicious.test(flag.name))
          expect(harmless, `${name} --${flag.name}`).toContain(flag.name);
      }
    }
  });

  it('groups all of its commands by what people want to do, each in one place', async () => {
    const top = COMMANDS.filter(({ name, hidden }) => !hidden && !name.includes(' '));
    const grouped = COMMAND_GROUPS.flatMap(([, names]) => names);
    expect(grouped.toSorted()).toEqual(top.map(({ name }) => name).toSorted());
    const { stdout } = await runCli(['--help']);
    const titles = [...stdout.matchAll(/^([A-Z][a-z ]+):$/gm)].map(([, title]) => title);
    expect(titles).toEqual([...COMMAND_GROUPS.map(([title]) => title), 'Examples']);
    for (const { name, summary } of top)
      expect(stdout).toMatch(new RegExp(`^  ${shownName(name)} +${summary}$`, 'm'));
  });

  it('has the global flags on a page of their own, and names them on every other', async () => {
    const { stdout } = await runCli(['help', 'flags']);
    const page = (await runCli(['keys', 'create', '--help'])).stdout;
    for (const flag of GLOBAL_FLAGS) {
      expect(stdout).toContain(flag.description);
      expect(stdout).toContain(flagEnv(flag));
      expect(page).toContain(`--${flag.name}`);
      expect(page).not.toContain(flag.description);
    }
  });

  it('shows Schedules by that name, and takes the compatible one as well', async () => {
    const { stdout } = await runCli(['--help']);
    expect(stdout).toMatch(/^  schedules /m);
    expect(stdout).not.toContain('deployments');
    const pages = ['schedules', 'deployments'].map(
      async (group) => (await runCli([group, 'pause', '--help'])).stdout,
    );
    const [page, same] = await Promise.all(pages);
    expect(page).toMatch(/^Usage: gateway schedules pause .*\n[^]*Also: deployments pause$/m);
    expect(same).toBe(page);
  });

  it('excludes flags and arguments that there are', () => {
    for (const { name, flags = [], args = [], endless } of COMMANDS) {
      const known = new Set(flags.map((flag) => flag.name));
      const named = flags.flatMap(({ excludes = [] }) => excludes);
      if (typeof endless === 'object' && 'with' in endless) named.push(...endless.with);
      expect(
        named.filter((one) => !known.has(one)),
        name,
      ).toEqual([]);
      if (typeof endless === 'object' && 'without' in endless)
        expect(args.map((arg) => arg.name)).toContain(endless.without);
    }
  });

  it('has commands that can be loaded', async () => {
    for (const { name, load } of COMMANDS) {
      if (name === 'start') continue;
      if (load !== undefined) expect((await load()).run, name).toBeTypeOf('function');
    }
  });

  it('makes and changes objects of every kind that files declare', () => {
    for (const { kind, collection } of CONFIG_KINDS) {
      for (const verb of ['create', 'update']) {
        const command = COMMANDS.find(({ name }) => name === `${collection} ${verb}`);
        expect(command?.load, `${verb} of ${kind}`).toBeTypeOf('function');
      }
    }
  });

  it('finds the longest command that words call, aliases included', () => {
    const nameOf = (...words: string[]) => findCommand(COMMANDS, words)?.command.name;
    expect(nameOf('serve')).toBe('start');
    expect(nameOf('keys', 'ls', 'x')).toBe('keys list');
    expect(nameOf('orgs', 'get', 'x')).toBe('organizations get');
    expect(nameOf('keys', 'x')).toBe('keys');
    expect(nameOf('nothing')).toBeUndefined();
  });
});
