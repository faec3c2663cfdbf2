import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { CliIo } from '../io.ts';
import { pluginsFolder } from './plugins-folder.ts';

/** Folder of the user's plugins; throws `no_home` (exit 1) when the environment names none. */
export function needPluginsFolder(env: CliIo['env']): string {
  const folder = pluginsFolder(env);
  if (folder !== undefined) return folder;
  throw new CliError({
    code: 'no_home',
    message: 'found no directory for plugins',
    hint: 'set HOME or XDG_DATA_HOME to an absolute path',
  });
}

/** The folder of one plugin; names of scoped packages hold a slash. */
export function folderOf(plugins: string, name: string): string {
  return join(plugins, encodeURIComponent(name));
}

/** The package of a plugin within its folder. */
export function packageOf(folder: string, name: string): string {
  return join(folder, 'node_modules', ...name.split('/'));
}
