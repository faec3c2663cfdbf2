import { join } from 'node:path';
import type { StoreConfig } from '../../../src/store/store-config.ts';
import { temporaryDirectory } from '../../conformance/store-kill.ts';
import { shareDatabase, type SharedDatabase } from '../../support/servers/share-database.ts';
import { findProgram } from './database-server.ts';

export interface StorePlaces {
  /** Those whose database is installed. */
  readonly drivers: readonly string[];
  /** A place of this driver where nothing is. */
  fresh(driver: string): Promise<StoreConfig>;
}

/** Places of the test file's own: databases on the servers of the run, folders for other drivers. */
export function storePlaces(): StorePlaces {
  const databases = new Map<string, Promise<SharedDatabase>>();
  const databaseOf = (driver: string): Promise<SharedDatabase> => {
    if (!databases.has(driver)) databases.set(driver, shareDatabase(driver));
    return databases.get(driver)!;
  };
  let sites = 0;
  return {
    drivers: [
      'lmdb',
      'fs',
      ...(findProgram('redis-server') === undefined ? [] : ['redis']),
      ...(findProgram('postgres') === undefined ? [] : ['postgres']),
    ],
    async fresh(driver) {
      if (driver !== 'redis' && driver !== 'postgres')
        return { driver, path: join(await temporaryDirectory(), 'store') };
      const { url, name } = await databaseOf(driver);
      const site = `${name}_${++sites}`;
      return {
        driver,
        options: { url, ...(driver === 'redis' ? { prefix: `${site}:` } : { schema: site }) },
      };
    },
  };
}
