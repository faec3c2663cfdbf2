import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bootstrap } from '../resources/bootstrap.ts';
import type { FirstStart } from '../resources/bootstrap.ts';
import { newKeyValue } from '../resources/key.ts';
import type { Repository } from '../resources/repository.ts';
import { writeOnce } from './write-once.ts';

/**
 * Makes the first organization and its keys on an empty store. The admin key goes to
 * `<data_dir>/admin.key` (0600), where the command line finds it; the client key is given back to be
 * shown this once (requirement console-free-bootstrap).
 */
export async function firstStart(
  repository: Repository,
  dataDir: string,
): Promise<FirstStart | undefined> {
  // A former start may have died after the file was made: then its key counts.
  const what = 'the admin key of this store';
  return bootstrap(repository, () =>
    writeOnce(join(dataDir, 'admin.key'), { what, make: newKeyValue }),
  );
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
