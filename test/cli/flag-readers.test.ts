import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { FlagSpec } from '../../src/cli/command.ts';
import { COMMANDS, type InputOf, type RunOf } from '../../src/cli/commands.ts';
import { defineCommand } from '../../src/cli/define-command.ts';
import { verifies } from '../requirements.ts';

const CLI = fileURLToPath(new URL('../../src/cli/', import.meta.url));

/** Whether a flag says of itself that it changes nothing. */
const isForScripts = ({ description }: FlagSpec) => description.startsWith('Accepted for scripts;');

/** Files in which flags are declared, so that their names there are no reads. */
const isTable = (file: string) => /^(tables\/|(all-)?commands\.ts$)/.test(file);

const textOf = (file: string) => readFileSync(join(CLI, file), 'utf8');

/** The sources of the command line that a source loads, at once or later, and itself. */
function reachedFrom(start: string): string[] {
  const reached = new Set([start]);
  for (const file of reached) {
    const text = textOf(file).replaceAll(/^(?:import|export) type [^;]*;/gm, '');
    for (const [, path = ''] of text.matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
      const next = relative(CLI, join(CLI, dirname(file), path));
      if (!next.startsWith('..') && !isTable(next)) reached.add(next);
    }
  }
  return [...reached];
}

/** Names of flags that sources read: as a member of `flags`, or as a word that stands for one. */
function readsOf(files: readonly string[]): ReadonlySet<string> {
  const texts = files.map(textOf);
  const reads = texts.flatMap((text) => [...text.matchAll(/\bflags\.(\w+)|'([a-z][a-z-]*)'/g)]);
  const taken = texts.flatMap((text) => [...text.matchAll(/\{([^{}]*)\} = flags\b/g)]);
  return new Set([
    ...reads.map(([, member, word]) => member ?? word ?? ''),
    ...taken.flatMap(([, names = '']) => names.match(/\w+(?=\s*(?:[,:=]|$))/g) ?? []),
  ]);
}

/** The file with the code of each command that a table has one for. */
function filesByCommand(): Map<string, string> {
  const tables = readdirSync(join(CLI, 'tables')).map((name) => `tables/${name}`);
  const found = new Map<string, string>();
  for (const table of [...tables, 'commands.ts']) {
    const rows = textOf(table).matchAll(
      /^ {4}name: '([^']+)',$|^ {4}(?:\.\.\.TAIL),$|^ {4}load: \(\) => import\('([^']+)'\)/gm,
    );
    let name = '';
    for (const [line, named, path] of rows) {
      if (named !== undefined) name = named;
      else if (path === undefined) found.set(name, 'commands/sessions/sessions-tail.ts');
      else found.set(name, join(dirname(table), path));
      expect(name, line).not.toBe('');
    }
  }
  return found;
}

describe('the flags of a command', () => {
  const files = filesByCommand();

  it.each([...files])(
    verifies('extend.command', 'are all read by the code of %s'),
    (name, file) => {
      const command = COMMANDS.find((one) => one.name === name);
      const reads = readsOf(reachedFrom(file));
      const unread = command?.flags?.filter((flag) => !reads.has(flag.name) && !isForScripts(flag));
      expect(unread?.map((flag) => flag.name) ?? []).toEqual([]);
    },
  );

  it('are looked at for every command but those that follow from the kinds', () => {
    const others = COMMANDS.filter(({ name, load }) => load !== undefined && !files.has(name));
    const verbs = /^\w+ (list|get|create|update|delete|archive|revoke|(un)?pause|enable|disable)$/;
    expect(others.map(({ name }) => name).filter((name) => !verbs.test(name))).toEqual([]);
  });

  it(verifies('extend.command', 'are read by the types that their declaration gives'), () => {
    expectTypeOf<InputOf<'keys rotate'>['flags']>().toEqualTypeOf<{
      readonly 'value-file': string | undefined;
      readonly 'value-stdin': boolean;
      readonly 'value-env': string | undefined;
      readonly overlap: number;
      readonly end: 'former' | 'current' | undefined;
    }>();
    expectTypeOf<InputOf<'keys rotate'>['args']>().toEqualTypeOf<{ readonly id: string }>();
    expectTypeOf<InputOf<'chat'>['args']['prompt']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<InputOf<'chat'>['flags']['file']>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<InputOf<'chat'>['flags']['no-stream']>().toEqualTypeOf<boolean>();
    // @ts-expect-error -- no such flag is declared
    expectTypeOf<InputOf<'chat'>['flags']['limit']>().toEqualTypeOf<never>();
    // @ts-expect-error -- no such command is declared
    expectTypeOf<RunOf<'chatt'>>().toEqualTypeOf<never>();
    defineCommand({
      name: 'made-up',
      summary: 'Nothing',
      examples: [],
      args: [{ name: 'what', description: 'Anything' }],
      flags: [{ name: 'limit', type: 'integer', default: 3, description: 'How many' }],
      output: {},
      async run({ args, flags }) {
        expectTypeOf(args.what).toEqualTypeOf<string | undefined>();
        expectTypeOf(flags.limit).toEqualTypeOf<number>();
        // @ts-expect-error -- no such flag is declared
        return { data: flags.other };
      },
    });
  });
});
