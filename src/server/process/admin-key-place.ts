import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import { DEFAULT_CONFIG } from '../../config/read/load.ts';
import { toShellWord } from '../../core/shell-word.ts';
import type { AdminKeyPlace } from '../http/welcome.ts';
import { ADMIN_KEY } from './first-start.ts';

/** Looks for the admin key of a configuration, as commands in the working directory would. */
export function adminKeyPlace(
  { server: { dataDir }, files }: Pick<GatewayConfig, 'server' | 'files'>,
  cwd: string,
): AdminKeyPlace {
  const file = join(dataDir, ADMIN_KEY);
  const [named] = files.filter((one) => one !== 'stdin');
  const isUsual = named !== undefined && resolve(cwd, named) === resolve(cwd, DEFAULT_CONFIG);
  const command = isUsual || named === undefined ? '' : ` -c ${toShellWord(named)}`;
  return {
    file,
    isKept: existsSync(file),
    isFound: isUsual || (basename(dataDir) === '.gateway' && isAtOrAbove(dirname(dataDir), cwd)),
    recovery: `\`gateway store admin-key${command}\``,
  };
}

function isAtOrAbove(folder: string, cwd: string): boolean {
  const at = resolve(cwd);
  return folder === at || folder === dirname(folder) || at.startsWith(`${folder}/`);
}
