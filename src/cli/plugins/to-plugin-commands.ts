import { z } from 'zod';
import type { ArgSpec, ExampleSpec, FlagSpec } from '../command.ts';
import { GLOBAL_FLAGS } from '../grammar/global-flags.ts';
import type { PluginCommand } from './installed-plugin.ts';

export const text = z.string().max(4_000);
export const texts = z.array(text).max(100);
export const word = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*$/, 'must be of small letters, digits and dashes');
const id = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*(:[a-z0-9][a-z0-9-]*)*$/, 'is not a valid command name');

export const ARG_NAME = /^[\w-]+$/;

const FLAG = z.object({
  name: word,
  type: z.enum(['boolean', 'option']),
  char: z.string().length(1).optional(),
  summary: text.optional(),
  description: text.optional(),
  helpValue: text.or(z.array(text)).optional(),
  default: z.unknown().optional(),
  options: texts.optional(),
  multiple: z.boolean().optional(),
  required: z.boolean().optional(),
  allowNo: z.boolean().optional(),
});
const ARG = z.object({
  name: z.string().regex(ARG_NAME),
  description: text.optional(),
  required: z.boolean().optional(),
  multiple: z.boolean().optional(),
});
const COMMAND = z.object({
  id,
  summary: text.optional(),
  description: text.optional(),
  hidden: z.boolean().optional(),
  strict: z.boolean().optional(),
  examples: z.array(text.or(z.object({ command: text, description: text }))).optional(),
  args: z.record(z.string(), ARG),
  flags: z.record(z.string(), FLAG),
});

/** Members of `oclif.manifest.json` that are read. */
const MANIFEST = z.object({ version: text, commands: z.record(z.string(), COMMAND) });

type Manifest = z.infer<typeof MANIFEST>;
type OclifCommand = Manifest['commands'][string];

export interface ReadManifest {
  version: string;
  commands: PluginCommand[];
}

/** The commands of an `oclif.manifest.json`; throws an `Error` that describes the fault. */
export function toPluginCommands(manifest: unknown): ReadManifest {
  const parsed = MANIFEST.safeParse(manifest);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { version, commands } = parsed.data;
  const all = Object.entries(commands).map(([key, command]) => toCommand({ ...command, id: key }));
  if (all.length === 0) throw new Error('it declares no command');
  // A group precedes its members.
  return { version, commands: all.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

function toCommand(command: OclifCommand): PluginCommand {
  if (!id.safeParse(command.id).success)
    throw new Error(`"${command.id}" is not a valid command name`);
  const name = command.id.replaceAll(':', ' ');
  const [summary = '', ...more] = (command.summary ?? command.description ?? '').split('\n');
  return {
    id: command.id,
    name,
    summary: summary || `Run ${name}`,
    description:
      command.summary === undefined ? more.join('\n').trim() || undefined : command.description,
    hidden: command.hidden,
    examples: (command.examples ?? []).map((example) => toExample(example, name)),
    args: toArgs(command),
    flags: Object.values(command.flags).flatMap((flag) => toFlags(flag, name)),
  };
}

/** A variadic argument is last, and so are further arguments of a command that is not strict. */
function toArgs({ args, strict }: OclifCommand): ArgSpec[] {
  const specs = Object.values(args).map(({ name, description = '', required, multiple }) => ({
    name,
    description,
    required: required ?? false,
    variadic: multiple ?? false,
  }));
  const early = specs.slice(0, -1).find(({ variadic }) => variadic);
  if (early !== undefined)
    throw new Error(`the argument "${early.name}" takes all further arguments`);
  if (strict !== false || specs.at(-1)?.variadic) return specs;
  return [...specs, { name: 'more', description: 'Further arguments', variadic: true }];
}

/** Flags that oclif gives commands for what the global ones do. */
const OF_OCLIF: ReadonlySet<string> = new Set(['help', 'json', 'version']);

/** Throws for a flag that every command has. */
export function refuseGlobal(
  { name, short }: { name: string; short?: string | undefined },
  command: string,
): void {
  const globals: readonly FlagSpec[] = GLOBAL_FLAGS;
  const taken = ['help', 'h', ...globals.flatMap((flag) => [flag.name, flag.short ?? []].flat())];
  if (taken.includes(name) || taken.includes(short ?? name))
    throw new Error(`--${name} of "${command}" has the name of a global flag`);
}

function toFlags(flag: OclifCommand['flags'][string], command: string): FlagSpec[] {
  if (flag.type === 'boolean' && OF_OCLIF.has(flag.name)) return [];
  refuseGlobal({ name: flag.name, short: flag.char }, command);
  const facts = [
    flag.summary ?? flag.description ?? '',
    flag.required ? '(required)' : '',
    typeof flag.default === 'string' || typeof flag.default === 'number'
      ? `(default ${flag.default})`
      : '',
  ];
  const spec: FlagSpec = {
    name: flag.name,
    ...(flag.char !== undefined && { short: flag.char }),
    type: flag.type === 'boolean' ? 'boolean' : 'string',
    value: [flag.helpValue ?? 'VALUE'].flat().join(' '),
    ...(flag.options !== undefined && { choices: flag.options }),
    repeatable: flag.multiple ?? false,
    description: facts.filter((fact) => fact !== '').join(' '),
  };
  if (!flag.allowNo) return [spec];
  const { short: _short, ...opposite } = spec;
  return [spec, { ...opposite, name: `no-${flag.name}`, description: `Not --${flag.name}` }];
}

/** Templates of oclif are filled in as far as they are of use here. */
function toExample(
  example: string | { command: string; description: string },
  name: string,
): ExampleSpec {
  const fill = (line: string) =>
    line
      .replaceAll(/<%=\s*config\.bin\s*%>/g, 'gateway')
      .replaceAll(/<%=\s*command\.id\s*%>/g, name)
      .replace(/^\$ /, '');
  if (typeof example === 'string') return { command: fill(example), note: name };
  return { command: fill(example.command), note: fill(example.description) };
}
