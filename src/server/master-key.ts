import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
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
 * @throws Error that says what to do when the file can be read by others or holds no key
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
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await create(path);
  }
  const key = (await readFile(path, 'utf8')).trim();
  if (key !== '') return key;
  throw new Error(`${path} is empty; put the master key of this store back, or remove the file`);
}

/** Linked into place whole: of two processes that start at once, both read the key of one. */
async function create(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
