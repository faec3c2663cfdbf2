import type { CommandResult, CommandRun } from '../../command.ts';
import { packageVersion } from '../../package-version.ts';

export const run: CommandRun = async () => answer();

export function answer(): CommandResult {
  const version = packageVersion();
  const data = { version, node: process.version, platform: `${process.platform}-${process.arch}` };
  return { data, text: version };
}
