import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { StoreConfig } from '../../../src/store/store-config.ts';
import { temporaryDirectory } from '../../conformance/store-kill.ts';
import { findProgram, startPostgres, startRedis, type DatabaseServer } from './database-server.ts';

export interface StorePlaces {
  /** Those whose database is installed. */
  readonly drivers: readonly string[];
  /** A place of this driver where nothing is. */
  fresh(driver: string): Promise<StoreConfig>;
}

/** Databases of the test file's own, for as long as it runs. */
export function storePlaces(): StorePlaces {
  const [redisProgram, postgresProgram] = [findProgram('redis-server'), findProgram('postgres')];
  let redis: DatabaseServer | undefined;
  let postgres: DatabaseServer | undefined;
  let sites = 0;
  beforeAll(async () => {
    if (redisProgram !== undefined) redis = await startRedis(redisProgram);
    if (postgresProgram !== undefined) postgres = await startPostgres(postgresProgram);
  });
  afterAll(() => Promise.all([redis?.stop(), postgres?.stop()]));
  return {
    drivers: [
      'lmdb',
      'fs',
      ...(redisProgram === undefined ? [] : ['redis']),
      ...(postgresProgram === undefined ? [] : ['postgres']),
    ],
    async fresh(driver) {
      const name = `site${++sites}`;
      if (driver === 'redis') return { driver, options: { url: redis?.url, prefix: `${name}:` } };
      if (driver === 'postgres') return { driver, options: { url: postgres?.url, schema: name } };
      return { driver, path: join(await temporaryDirectory(), 'store') };
    },
  };
}
