import { isListed, KINDS, kindsWhere, type Collection } from '../../core/kinds.ts';
import { findCommand, parentOf, shownName } from '../command.ts';
import type { CommandSpec, FlagSpec } from '../command.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';

/**
 * Candidates for a word; `names` of one kind are known only by the gateway or by the user's files.
 */
export interface Candidates {
  words: readonly string[];
  names?: NameKind;
  /** Precedes each, for words like `--output=json`. */
  prefix: string;
  /** Global flags that were given, by name. */
  given: Readonly<Record<string, string>>;
}

export type NameKind = Collection | 'contexts' | 'runs' | 'sessions';

/** Groups whose subcommands take the name of one. */
const GROUPS: readonly NameKind[] = [...kindsWhere(isListed), 'runs', 'sessions'];

/** Kinds of names by the flag or argument that takes them. */
const NAMED: Readonly<Record<string, NameKind>> = {
  ...Object.fromEntries(
    kindsWhere(({ isArgument = false }) => isArgument).flatMap((kind) => [
      [KINDS[kind].name, kind],
      [KINDS[kind].word.toLowerCase(), kind],
    ]),
  ),
  context: 'contexts',
  route: 'providers',
  run: 'runs',
  session: 'sessions',
};

/** Candidates for the last word, which is being written and may be empty. */
export function completeWords(
  commands: readonly CommandSpec[],
  words: readonly string[],
): Candidates {
  const { command, flags, given, position, asked } = read(commands, words.slice(0, -1));
  const current = words.at(-1) ?? '';
  const [, name = '', prefix = ''] = /^(?=--([^=]+)=)(--[^=]+=)/.exec(current) ?? [];
  const flag = asked ?? flags.find((one) => one.name === name && one.type !== 'boolean');
  if (flag !== undefined) {
    const start = asked === undefined ? current.slice(prefix.length) : current;
    return offer(flag.choices ?? flag.offers ?? [], start, {
      prefix,
      given,
      names: NAMED[flag.name],
    });
  }
  if (current.startsWith('-')) {
    return offer([...flags.map((one) => `--${one.name}`), '--help'], current, { given });
  }
  const below = subcommands(commands, command?.name ?? '');
  const names = position === 0 && below.length === 0 ? kindOf(command) : undefined;
  return offer(below, current, { given, names });
}

interface Seen {
  command: CommandSpec | undefined;
  flags: readonly FlagSpec[];
  given: Readonly<Record<string, string>>;
  /** Number of arguments after the command. */
  position: number;
  /** The flag whose value comes next. */
  asked: FlagSpec | undefined;
}

/** Parses the complete words: the command, its flags and the next argument. */
function read(commands: readonly CommandSpec[], words: readonly string[]): Seen {
  const plain: string[] = [];
  const given: Record<string, string> = {};
  let asked: FlagSpec | undefined;
  for (const word of words) {
    if (asked !== undefined) {
      given[asked.name] = word;
      asked = undefined;
      continue;
    }
    const [dashed = '', value] = word.split(/=(.*)/s);
    if (!word.startsWith('-')) plain.push(word);
    const found = flagsOf(findCommand(commands, plain)?.command).find(
      ({ name, short }) => dashed === `--${name}` || dashed === `-${short}`,
    );
    if (found === undefined || found.type === 'boolean') continue;
    if (value === undefined) asked = found;
    else given[found.name] = value;
  }
  const { command, used = 0 } = findCommand(commands, plain) ?? {};
  return { command, flags: flagsOf(command), given, position: plain.length - used, asked };
}

function flagsOf(command: CommandSpec | undefined): readonly FlagSpec[] {
  return [...(command?.flags ?? []), ...GLOBAL_FLAGS];
}

/** Kind of the first argument of a command. */
function kindOf(command: CommandSpec | undefined): NameKind | undefined {
  const argument = command?.args?.[0]?.name;
  if (command === undefined || argument === undefined) return undefined;
  if (argument !== 'id' && argument !== 'name') return NAMED[argument];
  const group = parentOf(command.name);
  const verb = command.name.slice(group.length).trim();
  if (verb === 'create' || verb === 'upload') return undefined;
  if (group === 'config') return 'contexts';
  if (command.name === 'tail') return 'sessions';
  return GROUPS.find((name) => name === group);
}

function subcommands(commands: readonly CommandSpec[], path: string): string[] {
  return commands
    .filter(({ name, hidden }) => !hidden && name !== path && parentOf(name) === path)
    .map(({ name }) => (path === '' ? shownName(name) : name.slice(path.length).trim()));
}

interface Rest {
  prefix?: string;
  given: Candidates['given'];
  names?: NameKind | undefined;
}

function offer(words: readonly string[], start: string, { prefix = '', given, names }: Rest) {
  return {
    words: words.filter((word) => word.startsWith(start)).map((word) => prefix + word),
    ...(names !== undefined && { names }),
    prefix,
    given,
  };
}
