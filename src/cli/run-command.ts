import { createContext } from './context.ts';
import { schemaOf, type CommandSpec } from './command.ts';
import { dataFormat, formatsOf } from './output/data-format.ts';
import { toFailure } from './failure.ts';
import { resolveFlags, type ResolvedFlags } from './grammar/flags.ts';
import { GLOBAL_FLAGS } from './grammar/global-flags.ts';
import type { CliIo } from './io.ts';
import { createOutput, type Output } from './output/output.ts';
import { withListHint } from './resources/not-found.ts';
import { parseArgv, type ParsedArgv } from './grammar/parse-argv.ts';
import { readSettings } from './grammar/settings.ts';
import { watchSignals } from './signals.ts';
import { createStyle, wantsColor } from './output/style.ts';

export interface CommandLine {
  commands: readonly CommandSpec[];
  /** The words behind `gateway`. */
  argv: readonly string[];
}

/** Parses, runs and reports one command; gives the exit code. Never rejects. */
export async function runCommand(io: CliIo, { commands, argv }: CommandLine): Promise<number> {
  let schema = 'gateway/v1';
  let output = outputFor(io, guessFormat(argv, io.env));
  try {
    const call = parseArgv({ commands, globals: GLOBAL_FLAGS }, argv);
    schema = schemaOf(call.command);
    const { format, globals } = await globalsOf(call, io);
    output = outputFor(io, format === 'json' ? 'json' : 'text', globals);
    return await execute(call, { io, output, globals, format });
  } catch (thrown) {
    const failure = withListHint(toFailure(thrown));
    if (thrown instanceof Error) output.debug(thrown.stack ?? thrown.message);
    await output.failure(failure, schema);
    return failure.exitCode;
  }
}

interface Execution {
  io: CliIo;
  output: Output;
  globals: ResolvedFlags;
  format: string;
}

async function execute(
  call: ParsedArgv,
  { io, output, globals, format }: Execution,
): Promise<number> {
  const { command } = call;
  const inFormat = await dataFormat(format, command);
  const flags = resolveFlags({
    specs: command.flags ?? [],
    command,
    given: call.flags,
    env: io.env,
  });
  const signals = command.ownsSignals ? undefined : watchSignals(io);
  const signal = signals?.signal ?? new AbortController().signal;
  const context = createContext({ io, output, globals, signal, format });
  try {
    const { run } = await load(command);
    const result = await run({ args: call.args, rest: call.rest, flags, context });
    if (!result.streamed) await output.result(inFormat?.(result) ?? result, schemaOf(command));
    return signals?.exitCode() ?? result.exitCode ?? result.failure?.exitCode ?? 0;
  } catch (thrown) {
    const exitCode = signals?.exitCode();
    if (exitCode === undefined) throw thrown;
    await output.failure(
      { code: 'interrupted', message: 'interrupted', exitCode },
      schemaOf(command),
    );
    return exitCode;
  } finally {
    signals?.dispose();
  }
}

async function load(command: CommandSpec) {
  if (command.load === undefined) throw new Error(`"${command.name}" is a group`);
  return command.load();
}

async function globalsOf({ command, globals: given }: ParsedArgv, io: CliIo) {
  const specs = GLOBAL_FLAGS.map((flag) =>
    flag.name === 'output' ? { ...flag, choices: ['text', 'json', ...formatsOf(command)] } : flag,
  );
  const settings = await readSettings(io);
  const globals = resolveFlags({ specs, given, env: io.env, settings });
  const format = globals.on('json') ? 'json' : (globals.text('output') ?? 'text');
  return { format, globals };
}

function outputFor(io: CliIo, format: 'text' | 'json', globals?: ResolvedFlags): Output {
  const off = globals?.on('no-color') ?? io.argv.includes('--no-color');
  const styleOf = ({ isTTY = false }) => createStyle(wantsColor({ isTTY, env: io.env, off }));
  return createOutput({
    stdout: io.stdout,
    stderr: io.stderr,
    format,
    quiet: globals?.on('quiet') ?? false,
    debug: globals?.on('debug') ?? false,
    style: styleOf(io.stdout),
    errorStyle: styleOf(io.stderr),
  });
}

/** Guesses the output format of a command line that cannot be parsed, for its error. */
function guessFormat(argv: readonly string[], env: CliIo['env']): 'text' | 'json' {
  const end = argv.indexOf('--');
  const text = ` ${(end === -1 ? argv : argv.slice(0, end)).join(' ')} `;
  const json = / (--json|--output[= ]json|-o ?json) /.test(text);
  return json || env['GATEWAY_OUTPUT'] === 'json' ? 'json' : 'text';
}
