import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { CliIo } from '../io.ts';

/**
 * Folder of the user's plugins, with a folder for each; undefined when the environment names no
 * home.
 */
export function pluginsFolder(env: CliIo['env']): string | undefined {
  const home = env['HOME'] ?? env['USERPROFILE'];
  const candidates = [
    env['XDG_DATA_HOME'],
    process.platform === 'win32' ? env['LOCALAPPDATA'] : undefined,
    home === undefined ? undefined : join(home, '.local', 'share'),
  ];
  // The XDG specification has relative paths ignored.
  const data = candidates.find((path) => path !== undefined && isAbsolute(path));
  return data === undefined ? undefined : join(data, 'gateway', 'plugins');
}

/** The same, when a plugin was ever installed. */
export function findPluginsFolder(env: CliIo['env']): string | undefined {
  const folder = pluginsFolder(env);
  return folder !== undefined && existsSync(folder) ? folder : undefined;
}
