import { execa, ExecaError } from 'execa';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';

const TIMEOUT_MS = 10 * 60_000;
const MAX_OUTPUT = 8 * 1024 * 1024;
/** No script of a package runs, and npm neither prompts nor prints notices. */
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];

/** Runs npm in a folder and gives its stdout; throws `npm_missing` or `npm_failed` with its words. */
export async function runNpm(
  args: readonly string[],
  { cwd, context }: { cwd: string; context: Pick<CommandContext, 'io' | 'signal' | 'output'> },
): Promise<string> {
  context.output.debug(`npm ${args.join(' ')}`);
  try {
    const { stdout } = await execa('npm', [...args, ...QUIET, '--prefix', cwd], {
      cwd,
      env: context.io.env,
      extendEnv: false,
      stdin: 'ignore',
      cancelSignal: context.signal,
      timeout: TIMEOUT_MS,
      maxBuffer: MAX_OUTPUT,
    });
    return stdout;
  } catch (cause) {
    throw toNpmError(cause);
  }
}

function toNpmError(cause: unknown): CliError {
  const known = cause instanceof ExecaError ? cause : undefined;
  if (known?.code === 'ENOENT') {
    const message = 'npm is not on the PATH';
    const hint = 'npm comes with Node.js; plugins are installed with it';
    return new CliError({ code: 'npm_missing', message, hint, cause });
  }
  const lines = String(known?.stderr ?? cause).split('\n');
  // Below the first two lines are the path of a log and general advice.
  const said = lines.flatMap(
    (line) => /^npm error (?!A complete log|code )(.+)/.exec(line)?.[1] ?? [],
  );
  const message = said.slice(0, 2).join(' ') || (known?.shortMessage ?? String(cause));
  return new CliError({ code: 'npm_failed', message: `npm: ${message}`, cause });
}
