import { CliError, usageError } from './cli-error.ts';
import { createContext } from './context.ts';
import { schemaOf } from './command.ts';
import type { CommandResult, CommandSpec, Failure, FlagSpec } from './command.ts';
import type { CommandInput } from './command-input.ts';
import { dataFormat, formatsOf, WIDE } from './output/data-format.ts';
import { toFailure } from './failure.ts';
import { resolveFlags, type FlagValues } from './grammar/flags.ts';
import { GLOBAL_FLAGS, type GlobalFlags } from './grammar/global-flags.ts';
import type { CliIo } from './io.ts';
import { createOutput, type Output } from './output/output.ts';
import { withListHint } from './resources/not-found.ts';
import { parseArgv, type ParsedArgv } from './grammar/parse-argv.ts';
import { readSettings } from './grammar/settings.ts';
import { UnknownCommand } from './grammar/unknown-command.ts';
import { watchSignals, type WatchedSignals } from './signals.ts';
import { createStyle, wantsColor } from './output/style.ts';

export interface CommandLine {
  commands: readonly CommandSpec[];
  /** The words after `gateway`. */
  argv: readonly string[];
}

/** Parses, runs and reports one command; gives the exit code. Never rejects. */
export async function runCommand(io: CliIo, { commands, argv }: CommandLine): Promise<number> {
  let schema = 'gateway/v1';
  let signals: WatchedSignals | undefined;
  let output = outputFor(io, guessFormat(argv, io.env));
  try {
    const call = parseArgv({ commands, globals: GLOBAL_FLAGS }, argv);
    schema = schemaOf(call.command);
    const { format, globals } = await globalsOf(call, io);
    const rename = (failure: Failure): Failure => signals?.rename(failure) ?? failure;
    output = outputFor(io, format === 'json' ? 'json' : 'text', { globals, rename });
    const { command, flags: given } = call;
    const specs = command.flags ?? [];
    const { values: flags } = resolveFlags({ specs, command, given, env: io.env });
    const isEndless = hasNoEnd(call, flags);
    if (isEndless) refuseDocument(format);
    if (!command.ownsSignals) signals = watchSignals(io, limitOf({ command, globals, isEndless }));
    return await execute(call, { io, output, globals, flags, format, signals });
  } catch (thrown) {
    const failure = withListHint(toFailure(thrown));
    if (thrown instanceof UnknownCommand) {
      const { meantHint } = await import('./grammar/meant-commands.ts');
      failure.hint = meantHint(thrown, { commands, argv }) ?? failure.hint;
    }
    if (thrown instanceof Error) output.debug(thrown.stack ?? thrown.message);
    await output.failure(failure, schema);
    return failure.exitCode;
  } finally {
    signals?.dispose();
  }
}

/** True for a conversation, a stream that is followed, and another program. */
function hasNoEnd({ command: { endless }, args }: ParsedArgv, flags: Flags): boolean {
  if (endless === undefined || endless === true) return endless === true;
  return 'with' in endless
    ? endless.with.some((name) => flags[name] === true)
    : args[endless.without] === undefined;
}

/** A document has an end: lines that come one by one never make one. */
function refuseDocument(format: string): void {
  if (format === 'text' || format === 'json' || format === WIDE) return;
  const message = `-o ${format} prints a whole list, and this has no end`;
  throw usageError(message, 'use -o json for one JSON object per line, or leave -o out for text');
}

/** Milliseconds that a command may take as a whole: where a person says so, and not in a file of settings. */
function limitOf({
  command: { serves },
  globals,
  isEndless,
}: {
  readonly command: CommandSpec;
  readonly globals: GlobalFlags;
  readonly isEndless: boolean;
}): number | undefined {
  const layer = globals.origin('timeout')?.layer;
  const isSaid = layer === 'flag' || (layer === 'env' && !isEndless);
  return isSaid && serves !== true ? globals.values.timeout : undefined;
}

type Flags = FlagValues<readonly FlagSpec[]>;

/** Input of any command; one whose flags follow from its target finds them by name. */
type LoadedInput = CommandInput & { readonly loaded: CommandInput['flags'] };

interface Execution {
  io: CliIo;
  output: Output;
  globals: GlobalFlags;
  flags: Flags;
  format: string;
  /** Absent for a command that owns them. */
  signals: WatchedSignals | undefined;
}

async function execute(
  call: ParsedArgv,
  { io, output, globals, flags, format, signals }: Execution,
): Promise<number> {
  const { command } = call;
  const inFormat = await dataFormat(format, command);
  const signal = signals?.signal ?? new AbortController().signal;
  const context = createContext({ io, output, globals, signal, format });
  try {
    const { run } = await load(command);
    const ended = run({ args: call.args, rest: call.rest, flags, loaded: flags, context });
    const result = await (signals ? Promise.race([ended, signals.stuck]) : ended);
    if (!result.streamed)
      await output.result(inFormat?.(result, output) ?? result, schemaOf(command));
    return signals?.exitCode() ?? result.exitCode ?? result.failure?.exitCode ?? 0;
  } catch (thrown) {
    const exitCode = signals?.exitCode();
    if (exitCode === undefined) throw thrown;
    // A command that says itself how far it came is not spoken over.
    const { code, message, hint } =
      thrown instanceof CliError ? thrown : { code: 'interrupted', message: 'interrupted' };
    await output.failure({ code, message, hint, exitCode }, schemaOf(command));
    // A command that does not end by itself would keep the process.
    if (signals?.isStuck()) io.exit(exitCode);
    return exitCode;
  }
}

/** Code of a command, which takes the values that its declaration made. */
async function load({ name, load }: CommandSpec) {
  if (load === undefined) throw new Error(`"${name}" is a group`);
  return (await load()) as { run: (input: LoadedInput) => Promise<CommandResult> };
}

async function globalsOf({ command, globals: given }: ParsedArgv, io: CliIo) {
  const specs = GLOBAL_FLAGS.map((flag): FlagSpec =>
    flag.name === 'output' ? { ...flag, choices: [...flag.choices, ...formatsOf(command)] } : flag,
  );
  const settings = await readSettings(io);
  // The same flags, of which one takes more than it says.
  const globals = resolveFlags({ specs, given, env: io.env, settings }) as unknown as GlobalFlags;
  const format: string = globals.values.json ? 'json' : globals.values.output;
  return { format, globals };
}

function outputFor(
  io: CliIo,
  format: 'text' | 'json',
  { globals, rename }: { globals?: GlobalFlags; rename?: (failure: Failure) => Failure } = {},
): Output {
  const off = globals?.values['no-color'] ?? io.argv.includes('--no-color');
  const width = String(globals?.values.output) === WIDE ? Infinity : undefined;
  const styleOf = ({ isTTY = false }) =>
    createStyle(wantsColor({ isTTY, env: io.env, off }), width);
  return createOutput({
    stdout: io.stdout,
    stderr: io.stderr,
    format,
    quiet: globals?.values.quiet ?? false,
    debug: globals?.values.debug ?? false,
    style: styleOf(io.stdout),
    errorStyle: styleOf(io.stderr),
    rename,
    onEvents: () => {
      io.isStreaming = true;
    },
  });
}

/** Guesses the output format of a command line that cannot be parsed, for its error. */
function guessFormat(argv: readonly string[], env: CliIo['env']): 'text' | 'json' {
  const end = argv.indexOf('--');
  const text = ` ${(end === -1 ? argv : argv.slice(0, end)).join(' ')} `;
  const json = / (--json|--output[= ]json|-o ?json) /.test(text);
  return json || env['GATEWAY_OUTPUT'] === 'json' ? 'json' : 'text';
}
