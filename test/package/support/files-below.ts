import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** All files below a directory, relative to it. */
export async function filesBelow(directory: string): Promise<string[]> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

/** Path and version of every package in the `node_modules` of a directory, to any depth. */
export async function packagesBelow(
  directory: string,
  below = '',
): Promise<(readonly [string, string])[]> {
  const folder = join(directory, below, 'node_modules');
  if (!(await stat(folder).catch(() => undefined))) return [];
  const found: (readonly [string, string])[] = [];
  for (const name of await readdir(folder)) {
    if (name.startsWith('.')) continue;
    const names = name.startsWith('@')
      ? (await readdir(join(folder, name))).map((inner) => `${name}/${inner}`)
      : [name];
    for (const one of names) {
      const path = [below, 'node_modules', one].filter((part) => part !== '').join('/');
      const { version } = JSON.parse(await readFile(join(folder, one, 'package.json'), 'utf8'));
      found.push([path, version], ...(await packagesBelow(directory, path)));
    }
  }
  return found;
}
