import type { CommandInput } from '../command.ts';
import type { PluginCommand } from './installed-plugin.ts';

/** The command line as @oclif/core reads it, without the global flags and with all values attached. */
export function toOclifArgv(
  { flags: specs = [], args: names = [] }: PluginCommand,
  { args, rest, flags }: Pick<CommandInput, 'args' | 'rest' | 'flags'>,
): string[] {
  const words = specs.flatMap(({ name, type, repeatable }) => {
    if (type === 'boolean') return flags.on(name) ? [`--${name}`] : [];
    if (repeatable) return flags.list(name).map((value) => `--${name}=${value}`);
    const value = flags.text(name);
    return value === undefined ? [] : [`--${name}=${value}`];
  });
  const values = names.flatMap(({ name, variadic }) => (variadic ? rest : (args[name] ?? [])));
  // Nothing behind the dashes is a flag, whatever it begins with.
  return [...words, '--', ...values];
}
