import type { ArgSpec, CommandResult, FlagSpec } from './command.ts';
import type { CommandContext } from './context.ts';

/** A value of any flag; durations are milliseconds, and undefined says that nobody gave it. */
export type FlagValue = boolean | string | number | readonly string[] | undefined;

/** Value of one flag, as its declaration says. */
type ValueOf<F extends FlagSpec> = string extends F['name']
  ? FlagValue
  : F extends { type: 'boolean' }
    ? boolean
    : F extends { repeatable: true }
      ? readonly TextOf<F>[]
      : SingleOf<F> | (F extends { default: string | number } ? never : undefined);

type SingleOf<F extends FlagSpec> = F extends { type: 'string' } ? TextOf<F> : number;

type TextOf<F extends FlagSpec> = F extends { choices: readonly (infer C extends string)[] }
  ? C
  : string;

/** The values of declared flags by name: command line before environment before default. */
export type FlagValues<F extends readonly FlagSpec[]> = {
  readonly [S in F[number] as S['name']]: ValueOf<S>;
};

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
