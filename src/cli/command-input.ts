import type { ArgSpec, CommandResult, FlagSpec } from './command.ts';
import type { CommandContext } from './context.ts';
import type { FlagValues } from './grammar/flags.ts';

/** Positional arguments by name, but for a variadic one; absent ones are undefined. */
export type ArgValues<A extends readonly ArgSpec[]> = {
  readonly [S in A[number] as S extends { variadic: true } ? never : S['name']]: S extends {
    required: true;
  }
    ? string
    : string | undefined;
};

/** Input of what reads some of a command's flags. */
export interface FlagInput<F extends readonly FlagSpec[], C = CommandContext> {
  readonly flags: FlagValues<F>;
  readonly context: C;
}

/** Input of a command with these arguments and flags. */
export interface CommandInput<
  A extends readonly ArgSpec[] = readonly ArgSpec[],
  F extends readonly FlagSpec[] = readonly FlagSpec[],
  C = CommandContext,
> extends FlagInput<F, C> {
  readonly args: ArgValues<A>;
  /** The values of a variadic argument. */
  readonly rest: readonly string[];
}

export type CommandRun<
  A extends readonly ArgSpec[],
  F extends readonly FlagSpec[],
  C = CommandContext,
> = (input: CommandInput<A, F, C>) => Promise<CommandResult>;

type ArgsOf<C> = C extends { args: infer A extends readonly ArgSpec[] } ? A : readonly [];
type FlagsOf<C> = C extends { flags: infer F extends readonly FlagSpec[] } ? F : readonly [];

/** Input of a declared command. */
export type InputFor<C> = CommandInput<ArgsOf<C>, FlagsOf<C>>;

/** Code of a declared command. */
export type RunFor<C> = CommandRun<ArgsOf<C>, FlagsOf<C>>;
