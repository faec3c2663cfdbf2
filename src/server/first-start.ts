import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootstrap } from '../resources/bootstrap.ts';
import type { FirstStart } from '../resources/bootstrap.ts';
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
  const made = await bootstrap(repository);
  if (made) await writePrivate(join(dataDir, 'admin.key'), `${made.adminKey}\n`);
  return made;
}

/** Lets the command line find the running gateway. */
export async function writeRuntime(dataDir: string, url: string): Promise<void> {
  await writePrivate(
    join(dataDir, 'runtime.json'),
    `${JSON.stringify({ url, pid: process.pid })}\n`,
  );
}

async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
  await writeFile(path, text, { mode: 0o600 });
  await chmod(path, 0o600);
}
