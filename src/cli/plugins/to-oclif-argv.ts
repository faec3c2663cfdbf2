import type { CommandInput } from '../command-input.ts';
import type { PluginCommand } from './installed-plugin.ts';

/** The command line as @oclif/core reads it, without the global flags and with all values attached. */
export function toOclifArgv(
  { flags: specs = [], args: names = [] }: PluginCommand,
  { args, rest, flags }: Pick<CommandInput, 'args' | 'rest' | 'flags'>,
): string[] {
  const words = specs.flatMap(({ name }) => {
    const value = flags[name];
    if (typeof value === 'boolean') return value ? [`--${name}`] : [];
    return [value ?? []].flat().map((one) => `--${name}=${one}`);
  });
  const values = names.flatMap(({ name, variadic }) => (variadic ? rest : (args[name] ?? [])));
  // Nothing behind the dashes is a flag, whatever it begins with.
  return [...words, '--', ...values];
}
