import type { ArgSpec, CommandSpec, FlagSpec } from './command.ts';
import type { CommandRun } from './command-input.ts';
import type { CommandContext } from './context.ts';

/** A command with its code: `run` gets the values of the declared arguments and flags. */
export interface CommandDeclaration<
  A extends readonly ArgSpec[],
  F extends readonly FlagSpec[],
  C,
> extends Omit<CommandSpec, 'args' | 'flags' | 'output' | 'loadFlags' | 'light' | 'load'> {
  readonly args?: A;
  readonly flags?: F;
  /** JSON Schema (2020-12) of `data` in the document that -o json prints. */
  readonly output: Readonly<Record<string, unknown>>;
  readonly run: CommandRun<A, F, C>;
}

/**
 * Declares a command once. Parser, help, completion, docs and `schema output` follow from it, and
 * `run` has the values of the arguments and flags that it names, by the types that they have there.
 */
export function defineCommand<
  const A extends readonly ArgSpec[] = readonly [],
  const F extends readonly FlagSpec[] = readonly [],
  C = CommandContext,
>({ run, ...declared }: CommandDeclaration<A, F, C>): CommandSpec {
  return { ...declared, load: async () => ({ run }) };
}
