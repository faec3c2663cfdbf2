import type { CommandResult } from '../../command.ts';
import { packageVersion } from '../../package-version.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'version'> = async () => answer();

export function answer(): CommandResult {
  const version = packageVersion();
  const data = { version, node: process.version, platform: `${process.platform}-${process.arch}` };
  return { data, text: version };
}
