import type { CliIo } from './io.ts';
import { packageVersion } from './package-version.ts';

/** Answers `gateway --version` in place of the whole command line, which takes longer to load. */
export async function main({ stdout }: Pick<CliIo, 'stdout'>): Promise<number> {
  stdout.write(`${packageVersion()}\n`);
  return 0;
}
