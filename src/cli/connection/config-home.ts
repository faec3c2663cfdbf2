import { delimiter, isAbsolute, join } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { CliIo } from '../io.ts';

/** The user's directory of this command line; undefined when the environment names no home. */
export function configHome(env: CliIo['env']): string | undefined {
  const home = env['HOME'] ?? env['USERPROFILE'];
  const bases = [
    env['XDG_CONFIG_HOME'],
    process.platform === 'win32' ? env['APPDATA'] : undefined,
    home && join(home, '.config'),
  ];
  // The XDG specification has relative paths ignored.
  const base = bases.find((path) => path !== undefined && isAbsolute(path));
  return base && join(base, 'gateway');
}

/** The same, required for a write; throws `no_home` (exit 1). */
export function needConfigHome(env: CliIo['env']): string {
  const found = configHome(env);
  if (found !== undefined) return found;
  throw new CliError({
    code: 'no_home',
    message: 'found no configuration directory for this user',
    hint: 'set HOME or XDG_CONFIG_HOME to an absolute path',
  });
}

/** `no_home` (exit 1) for a path of this user that cannot be written. */
export function unwritable(path: string, variable: string, cause: unknown): CliError {
  const { code = 'unknown' } = cause as NodeJS.ErrnoException;
  return new CliError({
    code: 'no_home',
    message: `${path} cannot be written (${code})`,
    hint: `set ${variable} to a directory of this user`,
    cause,
  });
}

/** Folders of the machine, the first before the others. */
export function systemConfigHomes(env: CliIo['env']): readonly string[] {
  const bases = env['XDG_CONFIG_DIRS'] || '/etc/xdg';
  const absolute = bases.split(delimiter).filter((path) => isAbsolute(path));
  return absolute.map((path) => join(path, 'gateway'));
}
