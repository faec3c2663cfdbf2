import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { packageFile } from '../core/package-root.ts';
import type { CliIo } from './io.ts';
import { wantsColor } from './output/style.ts';
import { findPluginsFolder } from './plugins/plugins-folder.ts';

/**
 * Answers `gateway --help` with the text that the build wrote down, in place of the whole command line,
 * which takes longer to load. Commands of plugins are not in it.
 */
export async function main(io: CliIo): Promise<number> {
  if (findPluginsFolder(io.env) !== undefined) {
    const { main: whole } = await import('./main.ts');
    return whole(io);
  }
  const text = readFileSync(packageFile('dist/help.txt'), 'utf8');
  const { isTTY = false } = io.stdout;
  const isColored = wantsColor({ isTTY, env: io.env, off: false });
  io.stdout.write(isColored ? text : stripVTControlCharacters(text));
  return 0;
}
