import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ServerConfig } from '../config/server-config.ts';

export interface MasterKeyInput {
  secrets: ServerConfig['secrets'];
  /** Resolves a secret reference of the configuration. */
  resolve(reference: NonNullable<ServerConfig['secrets']['masterKey']>): Promise<string>;
}

/**
 * The keys that seal secrets at rest: the first seals, all of them open. They come from the
 * configuration, or from a file that the first start makes with mode 0600; never from the store.
 *
 * @throws Error when the file can be read by others
 */
export async function loadMasterKeys({ secrets, resolve }: MasterKeyInput): Promise<Uint8Array[]> {
  const current = secrets.masterKey
    ? await resolve(secrets.masterKey)
    : await readOrCreate(secrets.masterKeyFile);
  const previous = await Promise.all(secrets.previousKeys.map(resolve));
  return [current, ...previous].map((key) => Buffer.from(key, 'utf8'));
}

async function readOrCreate(path: string): Promise<string> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) {
      throw new Error(`${path} can be read by other users; run: chmod 600 ${path}`);
    }
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return create(path);
}

/** `wx`: of two processes that start at once, one makes the key and the other reads it. */
async function create(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const key = randomBytes(32).toString('hex');
  try {
    await writeFile(path, `${key}\n`, { mode: 0o600, flag: 'wx' });
    await chmod(path, 0o600);
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await readFile(path, 'utf8')).trim();
  }
}
