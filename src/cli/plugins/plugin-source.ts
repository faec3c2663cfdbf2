import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { usageError } from '../cli-error.ts';

const NAME = /^(@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*(@[\w.+-]+)?$/;

/**
 * Source for npm: the absolute path of a tarball or a directory, or a name with or without a
 * version. Addresses and repositories are refused, for their contents may change.
 */
export async function toPluginSource(given: string, cwd: string): Promise<string> {
  if (isAbsolute(given) || /^\.{1,2}([/\\]|$)|\.(tgz|tar\.gz)$/.test(given)) {
    const path = resolve(cwd, given);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw usageError(`${path} does not exist`);
    return path;
  }
  if (NAME.test(given)) return given;
  throw usageError(
    `"${given}" is not a plugin`,
    'give the name of a package, a tarball, or a directory such as ./plugin',
  );
}
