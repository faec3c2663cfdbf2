import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
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

/** What came of a signal, for whoever sent it. */
export interface SignalOutcome {
  readonly action: 'reload' | 'restart';
  /** Milliseconds since epoch, when it was over. */
  readonly at: number;
  /** Null when all of it was done. */
  readonly error: string | null;
}

/** Beside the address, unless a later gateway has written its own there. */
export async function noteOutcome(dataDir: string, last: SignalOutcome): Promise<void> {
  const path = join(dataDir, 'runtime.json');
  const runtime = JSON.parse(await readFile(path, 'utf8')) as { url: string; pid: number };
  const { url, pid } = runtime;
  if (pid === process.pid) await writePrivate(path, `${JSON.stringify({ url, pid, last })}\n`);
}

/** Whole or not at all, for those who read it meanwhile. */
async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}`;
  await writeFile(fresh, text, { mode: 0o600 });
  await chmod(fresh, 0o600);
  await rename(fresh, path);
}
