import { flagEnv, otherNames, parentOf, shownName } from '../command.ts';
import type { CommandSpec, FlagSpec } from '../command.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';
import type { Style } from '../output/style.ts';

/** The help page of one command, or of the whole binary when `command` is absent. */
export function renderHelp(
  commands: readonly CommandSpec[],
  command: CommandSpec | undefined,
  style: Style,
): string {
  const path = command?.name ?? '';
  const children = commands.filter(
    ({ name, hidden }) => !hidden && name !== path && parentOf(name) === path,
  );
  const sections = [
    `${style.bold('Usage:')} ${usageOf(command)}`,
    command === undefined ? INTRODUCTION : describe(command, commands),
    section(
      'Arguments',
      (command?.args ?? []).map(({ name, description }) => [name, description]),
    ),
    ...(command === undefined ? groupsOf(children) : [commandsOf('Commands', children, path)]),
    section(
      'Flags',
      (command?.flags ?? []).map((flag) => flagRow(flag, command)),
    ),
    globalFlags(),
    examplesOf(command?.examples ?? EXAMPLES),
    command === undefined ? MORE : undefined,
  ];
  return sections
    .filter((text) => text !== undefined)
    .map((text) => text.replace(/^[A-Z][a-z ,]+:$/m, (title) => style.bold(title)))
    .join('\n\n');
}

/** Commands by what people want to do; those in no group, as of plugins, come last. */
export const COMMAND_GROUPS: readonly (readonly [string, readonly string[]])[] = [
  group('Start here', 'init start dev status reload stop connect chat mock doctor'),
  group(
    'Configuration',
    'validate plan apply diff drift delete dump adopt transfer explain schema',
  ),
  group(
    'Models and money',
    'models providers aliases apis run tasks assets keys budgets prices organizations usage logs account executions',
  ),
  group(
    'Agents',
    'agents sessions tail services invoke mcp acp deployments trigger runs wait skills files credentials webhooks',
  ),
  group(
    'Operate',
    'audit console login logout whoami config api store selftest plugins completion version help',
  ),
];

function group(title: string, names: string): readonly [string, readonly string[]] {
  return [title, names.split(' ')];
}

const HELP_ROW: [string, string] = ['-h, --help', 'Show help on a command'];

/** Rows of `gateway help flags`. */
export function globalFlagRows(): [string, string][] {
  return [...GLOBAL_FLAGS.map((flag) => flagRow(flag)), HELP_ROW];
}

function groupsOf(children: readonly CommandSpec[]): (string | undefined)[] {
  const named = COMMAND_GROUPS.map(([title, names]) => {
    const found = names.flatMap((name) => children.find((child) => child.name === name) ?? []);
    return [title, found] as const;
  });
  const shown = new Set(named.flatMap(([, found]) => found));
  const others = children.filter((child) => !shown.has(child));
  return [...named, ['More', others] as const].map(([title, found]) =>
    commandsOf(title, found, ''),
  );
}

function commandsOf(
  title: string,
  commands: readonly CommandSpec[],
  path: string,
): string | undefined {
  const rows = commands.map(({ name, summary }): [string, string] => {
    const last = name.slice(path.length).trim();
    return [path === '' ? shownName(last) : last, summary];
  });
  return section(title, rows);
}

function globalFlags(): string {
  const globals: readonly FlagSpec[] = GLOBAL_FLAGS;
  const names = globals.map(({ name, short }) => `${short ? `-${short}, ` : ''}--${name}`);
  return `Every command takes ${names.join(', ')}: gateway help flags`;
}

const INTRODUCTION = `One process, one API key, one YAML: route model calls across providers and keep
it all as code.`;

const MORE = `More: gateway help <command>, gateway help flags, gateway help exit-codes, gateway help env,
gateway help config`;

const EXAMPLES = [
  { command: 'gateway init && gateway start', note: 'A working gateway in this directory' },
  { command: 'gateway chat mock/echo "hello"', note: 'Send a prompt to a model' },
];

/** `gateway keys create [flags] <name>`. */
export function usageOf(command: CommandSpec | undefined): string {
  if (command === undefined) return 'gateway <command> [flags]';
  const words = (command.args ?? []).map(({ name, required, variadic }) => {
    const word = variadic ? `${name}...` : name;
    return required ? `<${word}>` : `[${word}]`;
  });
  const tail = command.load === undefined ? ['<command>'] : words;
  return ['gateway', shownName(command.name), '[flags]', ...tail].join(' ');
}

/** The flag as it is written, and what help says about it: choices, default, environment variable. */
export function flagRow(flag: FlagSpec, command?: CommandSpec): [string, string] {
  const short = flag.short === undefined ? '    ' : `-${flag.short}, `;
  const value = flag.type === 'boolean' ? '' : ` ${flag.value ?? flag.type.toUpperCase()}`;
  const facts = [
    (flag.choices ?? flag.offers)?.join('|'),
    flag.repeatable ? 'repeatable' : undefined,
    flag.default === undefined ? undefined : `default ${flag.default}`,
    flagEnv(flag, command),
  ];
  const known = facts.filter((fact) => fact !== undefined);
  return [`${short}--${flag.name}${value}`, `${flag.description} [${known.join('; ')}]`];
}

function describe(command: CommandSpec, commands: readonly CommandSpec[]): string {
  const group = commands.find(({ name }) => name === parentOf(command.name));
  const others = otherNames(command, group);
  const also = others.length === 0 ? '' : `\n\nAlso: ${others.join(', ')}`;
  return `${command.description ?? `${command.summary}.`}${also}`;
}

function section(title: string, rows: readonly (readonly [string, string])[]): string | undefined {
  if (rows.length === 0) return undefined;
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`${title}:`, ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)].join(
    '\n',
  );
}

function examplesOf(examples: readonly { command: string; note: string }[]): string | undefined {
  if (examples.length === 0) return undefined;
  return ['Examples:', ...examples.map(({ command, note }) => `  # ${note}\n  ${command}`)].join(
    '\n',
  );
}
