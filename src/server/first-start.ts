import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bootstrap } from '../resources/bootstrap.ts';
import type { FirstStart } from '../resources/bootstrap.ts';
import { newKeyValue } from '../resources/key.ts';
import type { Repository } from '../resources/repository.ts';

/**
 * Makes the first organization and its keys on an empty store. The admin key goes to
 * `<data_dir>/admin.key` (0600), where the command line finds it; the client key is given back to be
 * shown this once (requirement console-free-bootstrap).
 */
export async function firstStart(
  repository: Repository,
  dataDir: string,
): Promise<FirstStart | undefined> {
  return bootstrap(repository, () => keepAdminKey(join(dataDir, 'admin.key')));
}

/** The key in the file, which is made if it is not there; a former start may have died behind this. */
async function keepAdminKey(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const value = newKeyValue();
  try {
    await writeFile(path, `${value}\n`, { mode: 0o600, flag: 'wx' });
    return value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await readFile(path, 'utf8')).trim();
  }
}

/** Lets the command line find the running gateway. */
export async function writeRuntime(dataDir: string, url: string): Promise<void> {
  await writePrivate(
    join(dataDir, 'runtime.json'),
    `${JSON.stringify({ url, pid: process.pid })}\n`,
  );
}

async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, text, { mode: 0o600 });
  await chmod(path, 0o600);
}
