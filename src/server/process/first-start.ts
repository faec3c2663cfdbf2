import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import { bootstrap } from '../../resources/bootstrap.ts';
import type { FirstStart } from '../../resources/bootstrap.ts';
import { newKeyValue } from '../../resources/kinds/key.ts';
import type { Repository } from '../../resources/store/repository.ts';
import { damaged } from '../../store/damage.ts';
import { fileOf, isInFiles } from '../../store/find-backend.ts';
import { writeOnce } from '../secrets/write-once.ts';

type StorePlace = Pick<ServerConfig, 'dataDir' | 'store'> & Partial<Pick<ServerConfig, 'secrets'>>;

export const ADMIN_KEY = 'admin.key';
export const CLIENT_KEY = 'client.key';

/**
 * Refuses an embedded store whose file is missing or empty although the admin key of one is there:
 * that key is made after the first commit (requirement store.damage.empty-beside-key). The master
 * key is made before the store, so with only that key just an empty file is refused.
 *
 * @throws StoreError `corrupt`, before anything is made
 */
export async function assertNotEmptied({ dataDir, store, secrets }: StorePlace): Promise<void> {
  const name = fileOf(store.driver);
  if (name === undefined) return;
  const file = join(store.path, name);
  const size = await sizeOf(file);
  if (size !== undefined && size > 0) return;
  const keys = [join(dataDir, ADMIN_KEY)];
  if (size === 0 && secrets && !secrets.masterKey) keys.push(secrets.masterKeyFile);
  for (const key of keys) if (await sizeOf(key)) throw emptied(file, key);
}

/**
 * The same for a store that can be opened and has not even an organization.
 *
 * @throws StoreError `corrupt`, before anything is made
 */
async function assertHasRows(
  repository: Repository,
  { dataDir, store }: StorePlace,
): Promise<void> {
  const key = join(dataDir, ADMIN_KEY);
  if (!isInFiles(store.driver) || !(await sizeOf(key))) return;
  const organizations = repository.definitionOf('organization');
  const everywhere = { organization: null, limit: 1, matches: () => true };
  const [any] = await repository.list(organizations, everywhere);
  if (!any) throw emptied(store.path, key);
}

function emptied(store: string, key: string): Error {
  const what = `it is missing or empty, but ${key} belongs to one that was there (remove that file, too, to begin anew)`;
  return damaged(what, store);
}

/** Undefined for a file that is not there. */
async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    // Below a file there is nothing either; opening the store reports the fault of its path.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR'].includes(code)) return undefined;
    throw error;
  }
}

export interface FirstStartOptions {
  /** The configuration declares keys, so no client key is made. */
  declaresKeys?: boolean;
  /** The client key goes to `<data_dir>/client.key` (0600), as without a terminal. */
  keepsClientKey?: boolean;
}

/**
 * Makes the first organization and its keys on an empty store. The admin key goes to
 * `<data_dir>/admin.key` (0600), where the command line finds it; the client key is given back to be
 * shown this once (requirement console-free-bootstrap).
 */
export async function firstStart(
  repository: Repository,
  server: StorePlace,
  { declaresKeys, keepsClientKey }: FirstStartOptions = {},
): Promise<FirstStart | undefined> {
  await assertHasRows(repository, server);
  // A former start may have died after the file was made: then its key counts.
  const keep = (name: string, what: string): Promise<string> =>
    writeOnce(join(server.dataDir, name), { what, make: newKeyValue });
  const sources = {
    adminKey: () => keep(ADMIN_KEY, 'the admin key of this store'),
    clientKey: async () =>
      keepsClientKey ? keep(CLIENT_KEY, 'the first client key') : newKeyValue(),
  };
  return bootstrap(repository, sources, { declaresKeys });
}
