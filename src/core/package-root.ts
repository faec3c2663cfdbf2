import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Folder of this package, two above both this source and its built file. Everything that asks for a file of the
 * package begins here, so that other sources may be at any depth.
 */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/[/\\]$/, '');

export function packageFile(path: string): string {
  return join(PACKAGE_ROOT, path);
}
