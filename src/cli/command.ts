import type { Style } from './output/style.ts';

export interface Failure {
  /** Stable: the server's error code, or one of the command line's own. */
  code: string;
  message: string;
  hint?: string | undefined;
  /** HTTP status, when an answer was the failure. */
  status?: number | undefined;
  /** Lines for stderr before the message; in JSON they belong into the data. */
  details?: string | undefined;
  exitCode: number;
}

export interface FlagSpec {
  /** Long name without dashes; a name that starts with `no-` is a switch that turns something off. */
  name: string;
  /** Other names of it, a single letter among them, which help and completion leave out. */
  also?: readonly string[];
  short?: string;
  /** Durations are seconds or `300ms | 2s | 5m | 1h`. */
  type: 'boolean' | 'string' | 'integer' | 'duration';
  /** Placeholder of the value in help, `FILE`. */
  value?: string;
  /** The environment variable that sets it; default derived from command and name. */
  env?: `GATEWAY_${string}`;
  default?: string | number;
  choices?: readonly string[];
  /** Values that help and completion offer; the command judges them itself. */
  offers?: readonly string[];
  /** May be given several times, each time with one value; in the environment separated by commas. */
  repeatable?: boolean;
  /** Flags of the command that are refused next to it. */
  excludes?: readonly string[];
  /** Smallest number allowed. */
  min?: number;
  max?: number;
  description: string;
}

export interface ArgSpec {
  name: string;
  description: string;
  required?: boolean;
  /** Takes all that follow; only the last one may. */
  variadic?: boolean;
}

export interface ExampleSpec {
  command: string;
  note: string;
}

/** Result of a command; the output room renders it. */
export interface CommandResult {
  data: unknown;
  /** The command wrote its own output already, as a stream. */
  streamed?: boolean;
  /** The same for people; absent: `data` as indented JSON. */
  text?: string | ((style: Style) => string | Promise<string>);
  /** True: files and pipes get the text as it is, a terminal never. Default false. */
  verbatim?: boolean;
  /** Bytes that files and pipes get in place of the text; a terminal never does. */
  bytes?: Uint8Array;
  /** A result that is a failure too (diagnostics of an invalid file). */
  failure?: Failure;
  /** Default: 0, or the failure's. */
  exitCode?: number;
}

/** Answer from the words after the command and all commands; undefined: `run` is to answer. */
export type LightAnswer = (
  words: readonly string[],
  commands: readonly CommandSpec[],
) => CommandResult | undefined;

/** One command; the same table makes the parser, help, completion and docs/cli.md. */
export interface CommandSpec {
  /** The words that call it, `keys create`. */
  name: string;
  /** Other spellings of the last word. */
  aliases?: readonly string[];
  summary: string;
  description?: string;
  examples: readonly ExampleSpec[];
  args?: readonly ArgSpec[];
  flags?: readonly FlagSpec[];
  /** Hidden from help and completion. */
  hidden?: boolean;
  /** Loads flags that depend on the target of the command; they follow `flags`. */
  loadFlags?: () => Promise<readonly FlagSpec[]>;
  /**
   * JSON Schema (2020-12) of `data` in the document that -o json prints. Default: the one in
   * `shapes/` for commands of the binary, none for others.
   */
  output?: Readonly<Record<string, unknown>>;
  /** Formats of --output in addition to text and json. */
  formats?: readonly string[];
  /**
   * True: its result is a list in the formats of lists. Default: true where the name says so. `unnamed`: of rows
   * without name and id.
   */
  lists?: true | 'unnamed';
  /** A quick answer without the parser, when the words after the command carry no flag. */
  light?: () => Promise<{ answer: LightAnswer }>;
  /** Handles SIGINT and SIGTERM itself. */
  ownsSignals?: boolean;
  /** True: serves until it is stopped, so --timeout is not the time of the whole command. */
  serves?: true;
  /**
   * True: has no end of its own, so --timeout ends it, but no setting that is meant for calls. An object: only
   * with one of these flags, or without this argument.
   */
  endless?: true | { readonly with: readonly string[] } | { readonly without: string };
  /** Loads the code, which reads only what this declares; absent for a group of commands. */
  load?: () => Promise<{ run: (input: never) => Promise<CommandResult> }>;
}

/** Names the shape of a command's JSON document, `gateway.keys.list/v1`. */
export function schemaOf(command: CommandSpec): string {
  return `gateway.${command.name.replaceAll(' ', '.')}/v1`;
}

/** Groups that are shown by another of their names; schemas keep the compatible one. */
const SHOWN_AS: Readonly<Record<string, string>> = { deployments: 'schedules' };

/** The words by which help, docs and completion call a command. */
export function shownName(name: string): string {
  const [group = '', ...rest] = name.split(' ');
  return [SHOWN_AS[group] ?? group, ...rest].join(' ');
}

/** Every other way to write a command, with the aliases of its group. */
export function otherNames(command: CommandSpec, group: CommandSpec | undefined): string[] {
  const parent = parentOf(command.name);
  const last = command.name.slice(parent.length).trim();
  const own = (command.aliases ?? []).map((alias) => join(shownName(parent), alias));
  const groups = group === undefined ? [] : [group.name, ...(group.aliases ?? [])];
  const all = [command.name, ...own, ...groups.map((name) => join(name, last))];
  return [...new Set(all)].filter((name) => name !== shownName(command.name));
}

/** The environment variable of a flag, `GATEWAY_KEYS_CREATE_SCOPE` unless the table names another. */
export function flagEnv(flag: FlagSpec, command?: CommandSpec): string {
  return flagEnvs(flag, command)[0] ?? '';
}

/** Its variables: by the words that help shows, and by those of the compatible paths. */
export function flagEnvs(flag: FlagSpec, command?: CommandSpec): readonly string[] {
  if (flag.env !== undefined) return [flag.env];
  const paths = command === undefined ? [''] : [`${shownName(command.name)}-`, `${command.name}-`];
  const own = [flag.name, ...(flag.also ?? [])];
  const names = own.flatMap((name) =>
    paths.map((path) => `${path}${name}`.replace(/[^a-z0-9]+/gi, '_')),
  );
  return [...new Set(names.map((name) => `GATEWAY_${name.toUpperCase()}`))];
}

/** The command that words call, aliases included: the longest one and how many words it took. */
export function findCommand(
  commands: readonly CommandSpec[],
  words: readonly string[],
): { command: CommandSpec; used: number } | undefined {
  let found: { command: CommandSpec; used: number } | undefined;
  let path = '';
  for (const [index, word] of words.entries()) {
    const command = commands.find(
      ({ name, aliases }) =>
        name === join(path, word) || (aliases?.includes(word) === true && parentOf(name) === path),
    );
    if (command === undefined) break;
    path = command.name;
    found = { command, used: index + 1 };
  }
  return found;
}

/** The words before a command's last one; '' at the top. */
export function parentOf(name: string): string {
  return name.includes(' ') ? name.slice(0, name.lastIndexOf(' ')) : '';
}

function join(path: string, word: string): string {
  return path === '' ? word : `${path} ${word}`;
}
