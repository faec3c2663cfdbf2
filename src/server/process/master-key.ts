import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import { writeOnce } from './write-once.ts';

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
  const mode = await stat(path).then(
    (found) => found.mode,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return 0o600;
    },
  );
  if ((mode & 0o077) !== 0) {
    throw new Error(`${path} can be read by other users; run: chmod 600 ${path}`);
  }
  return writeOnce(path, {
    what: 'the master key of this store',
    make: () => randomBytes(32).toString('hex'),
  });
}
