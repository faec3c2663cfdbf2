import { Command, Option } from 'commander';
import type { CommanderError } from 'commander';
import { usageError } from '../cli-error.ts';
import { findCommand, parentOf, type CommandSpec, type FlagSpec } from '../command.ts';
import type { RawFlags } from './flags.ts';
import { UnknownCommand } from './unknown-command.ts';

export interface ParsedArgv {
  command: CommandSpec;
  args: Record<string, string>;
  rest: string[];
  flags: RawFlags;
  globals: RawFlags;
}

export interface Grammar {
  commands: readonly CommandSpec[];
  globals: readonly FlagSpec[];
}

/**
 * Finds command, arguments and flags in the words after `gateway`. Unknown and missing ones are
 * usage errors (exit 64) with a suggestion where a name is close. Flags of a command end at `--`.
 */
export function parseArgv(grammar: Grammar, argv: readonly string[]): ParsedArgv {
  const commands = likelyCommands(grammar.commands, argv);
  if (commands === undefined) return parse(grammar, argv);
  try {
    return parse({ ...grammar, commands }, argv);
  } catch {
    // Only the whole grammar knows what else was meant.
    return parse(grammar, argv);
  }
}

/** The command that the words seem to call, and its groups: to build the others takes time. */
function likelyCommands(
  commands: readonly CommandSpec[],
  argv: readonly string[],
): CommandSpec[] | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  const { command } = findCommand(commands, words) ?? {};
  if (command?.load === undefined) return undefined;
  const { name } = command;
  return commands.filter((one) => name === one.name || name.startsWith(`${one.name} `));
}

function parse(grammar: Grammar, argv: readonly string[]): ParsedArgv {
  let parsed: ParsedArgv | undefined;
  const program = createProgram(grammar, (found) => (parsed = found));
  program.parse([...argv], { from: 'user' });
  if (parsed === undefined) throw usageError('a command is missing', seeHelp());
  return parsed;
}

const seeHelp = (name = '') => `see \`${`gateway ${name}`.trim()} --help\``;

function createProgram(grammar: Grammar, found: (parsed: ParsedArgv) => void): Command {
  const program = new Command('gateway')
    .exitOverride(refuse())
    // Errors are reported by our own output, which knows about -o json.
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} })
    .enablePositionalOptions()
    .helpOption(false)
    .helpCommand(false)
    .allowExcessArguments(false);
  addFlags(program, grammar.globals);
  const nodes = new Map<string, Command>([['', program]]);
  for (const spec of grammar.commands) {
    const parent = nodes.get(parentOf(spec.name));
    if (parent === undefined) throw new Error(`the table lacks the group of "${spec.name}"`);
    const node = parent.command(spec.name.slice(parentOf(spec.name).length).trim(), {
      hidden: spec.hidden ?? false,
    });
    node
      .aliases(spec.aliases ?? [])
      .allowExcessArguments(false)
      .exitOverride(refuse(spec.name));
    addFlags(node, [...(spec.flags ?? []), ...grammar.globals]);
    nodes.set(spec.name, node);
    if (spec.load !== undefined) addAction(node, { spec, grammar, found });
  }
  return program;
}

interface Action {
  spec: CommandSpec;
  grammar: Grammar;
  found: (parsed: ParsedArgv) => void;
}

function addAction(node: Command, { spec, grammar, found }: Action): void {
  for (const { name, required, variadic } of spec.args ?? []) {
    const word = variadic ? `${name}...` : name;
    node.argument(required ? `<${word}>` : `[${word}]`);
  }
  node.action(() => {
    const args: Record<string, string> = {};
    let rest: string[] = [];
    for (const [index, { name, required, variadic }] of (spec.args ?? []).entries()) {
      const value = node.args[index];
      if (required && value?.trim() === '')
        throw usageError(`<${name}> is empty`, seeHelp(spec.name));
      if (variadic) rest = node.args.slice(index);
      else if (value !== undefined) args[name] = value;
    }
    const globals: Record<string, RawFlags[string]> = {};
    for (let at: Command | null = node; at !== null; at = at.parent) {
      Object.assign(globals, { ...rawFlags(at, grammar.globals), ...globals });
    }
    found({ command: spec, args, rest, flags: rawFlags(node, spec.flags ?? []), globals });
  });
}

function addFlags(node: Command, flags: readonly FlagSpec[]): void {
  for (const { name, also = [], short, type, repeatable } of flags) {
    const value = type === 'boolean' ? '' : ' <value>';
    const own = `${short === undefined ? '' : `-${short}, `}--${name}${value}`;
    for (const written of [
      own,
      ...also.map((other) => `${other.length === 1 ? '-' : '--'}${other}${value}`),
    ]) {
      const option = new Option(written);
      // One value per repetition: a variadic option would swallow the arguments after it.
      if (repeatable)
        option.argParser((item: string, before: string[] | undefined) => [...(before ?? []), item]);
      node.addOption(option);
    }
  }
}

function rawFlags(node: Command, flags: readonly FlagSpec[]): RawFlags {
  const raw: Record<string, RawFlags[string]> = {};
  for (const { name, also = [], type } of flags) {
    const keys = [name, ...also].map((one) => new Option(`--${one}`).attributeName());
    const given = keys.filter((one) => node.getOptionValueSource(one) === 'cli');
    const [key] = given;
    if (key === undefined) continue;
    if (given.length > 1) throw usageError(`--${name} and --${also.join(', --')} are one flag`);
    const value: RawFlags[string] = node.getOptionValue(key);
    // A switch and its opposite are one value to the parser.
    if (type === 'boolean' && value === name.startsWith('no-')) continue;
    raw[name] = type === 'boolean' ? true : value;
  }
  return raw;
}

/** Converts an error of the command's parser to a usage error. */
function refuse(name?: string): (error: CommanderError) => never {
  return (error) => {
    if (error.code === 'commander.help') throw usageError('a subcommand is missing', seeHelp(name));
    const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
    const [, word] = /^unknown command '(.*)'$/s.exec(message) ?? [];
    if (error.code === 'commander.unknownCommand' && word !== undefined)
      throw new UnknownCommand({ word, group: name ?? '' }, { message, hint: seeHelp(name) });
    if (error.code === 'commander.excessArguments' && name !== undefined && parentOf(name) === '') {
      const hint = seeHelp(name);
      throw new UnknownCommand({ word: name, group: '', isExcess: true }, { message, hint });
    }
    throw usageError(message, suggestion?.replace(/^\(|\)$/g, '') ?? seeHelp(name));
  };
}
