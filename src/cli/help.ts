import { flagEnv, parentOf, type CommandSpec, type FlagSpec } from './command.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';
import type { Style } from './style.ts';

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
    command === undefined ? INTRODUCTION : describe(command),
    section(
      'Arguments',
      (command?.args ?? []).map(({ name, description }) => [name, description]),
    ),
    section(
      'Commands',
      children.map((child) => [child.name.slice(path.length).trim(), child.summary]),
    ),
    section(
      'Flags',
      (command?.flags ?? []).map((flag) => flagRow(flag, command)),
    ),
    section('Global flags', [...GLOBAL_FLAGS.map((flag) => flagRow(flag)), HELP_ROW]),
    examplesOf(command?.examples ?? EXAMPLES),
    command === undefined ? MORE : undefined,
  ];
  return sections
    .filter((text) => text !== undefined)
    .map((text) => text.replace(/^[A-Z][a-z ]+:$/m, (title) => style.bold(title)))
    .join('\n\n');
}

const HELP_ROW: [string, string] = ['-h, --help', 'Show this page'];

const INTRODUCTION = `One process, one API key, one YAML: route model calls across providers and keep
it all as code.`;

const MORE = `More: gateway help <command>, gateway help exit-codes, gateway help env, gateway help config`;

const EXAMPLES = [
  { command: 'gateway init && gateway start', note: 'A working gateway in this directory' },
  { command: 'gateway chat mock/echo "hello"', note: 'Ask a model' },
];

/** `gateway keys create [flags] <name>`. */
export function usageOf(command: CommandSpec | undefined): string {
  if (command === undefined) return 'gateway <command> [flags]';
  const words = (command.args ?? []).map(({ name, required, variadic }) => {
    const word = variadic ? `${name}...` : name;
    return required ? `<${word}>` : `[${word}]`;
  });
  const tail = command.load === undefined ? ['<command>'] : words;
  return ['gateway', command.name, '[flags]', ...tail].join(' ');
}

/** The flag as it is written, and what help says about it: choices, default, environment variable. */
export function flagRow(flag: FlagSpec, command?: CommandSpec): [string, string] {
  const short = flag.short === undefined ? '    ' : `-${flag.short}, `;
  const value = flag.type === 'boolean' ? '' : ` ${flag.value ?? flag.type.toUpperCase()}`;
  const facts = [
    flag.choices?.join('|'),
    flag.repeatable ? 'repeatable' : undefined,
    flag.default === undefined ? undefined : `default ${flag.default}`,
    flagEnv(flag, command),
  ];
  const known = facts.filter((fact) => fact !== undefined);
  return [`${short}--${flag.name}${value}`, `${flag.description} [${known.join('; ')}]`];
}

function describe(command: CommandSpec): string {
  const aliases = command.aliases?.length ? `\n\nAlso: ${command.aliases.join(', ')}` : '';
  return `${command.description ?? `${command.summary}.`}${aliases}`;
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
