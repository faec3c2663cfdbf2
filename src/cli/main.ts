import type { CliIo } from './io.ts';
import { packageVersion } from './package-version.ts';

/** Spellings of the command `version` that need no table of commands to be known. */
const VERSION = new Set(['--version', '-V', 'version']);

/**
 * Runs one command line and gives its exit code (`gateway help exit-codes`). Never rejects. The version
 * alone is answered without loading anything else.
 */
export async function main(io: CliIo): Promise<number> {
  guardStreams(io);
  const [word = '', ...more] = io.argv;
  if (
    VERSION.has(word) &&
    more.length === 0 &&
    !io.env['GATEWAY_OUTPUT'] &&
    !io.env['GATEWAY_JSON']
  ) {
    io.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  const { runCommandLine } = await import('./run-command-line.ts');
  return runCommandLine(io);
}

/** A reader that has seen enough (`| head -1`) is no failure. */
function guardStreams(io: CliIo): void {
  io.stdout.on('error', (error) => io.exit(error.code === 'EPIPE' ? 0 : 1));
  io.stderr.on('error', () => {});
}
