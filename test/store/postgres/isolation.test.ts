import pg from 'pg';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { openPostgresStore } from '../../../src/store/backends/postgres/open-postgres-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { shareDatabase, type SharedDatabase } from '../../support/servers/share-database.ts';
import { findProgram } from '../support/database-server.ts';

const program = findProgram('postgres');
const COMMITS = 60;

describe.skipIf(program === undefined)('a PostgreSQL whose transactions see one moment', () => {
  let server: SharedDatabase;
  beforeAll(async () => {
    server = await shareDatabase('postgres');
  });

  async function open(query = ''): Promise<Store> {
    const url = `${server.url}${query}`;
    const store = await openPostgresStore({ url, connections: 5 }, systemClock);
    onTestFinished(() => store.close());
    return store;
  }

  async function setDefault(isolation: string): Promise<void> {
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    const setting = `default_transaction_isolation = '${isolation}'`;
    await admin.query(`alter role gateway in database ${server.name} set ${setting}`);
    await admin.end();
  }

  /** Adds one to the same row again and again, as often as others are faster. */
  async function count(store: Store): Promise<void> {
    for (let done = 0; done < COMMITS;) {
      const row = await store.get<number>(['sum']);
      const condition = row ? { ifVersion: row.version } : { ifAbsent: true as const };
      const value = (row?.value ?? 0) + 1;
      const result = await store.commit([{ type: 'put', key: ['sum'], value, ...condition }]);
      if (result.ok) done++;
    }
  }

  it.each([
    ['repeatable read', ''],
    ['serializable', '?options=-c%20default_transaction_isolation%3Dserializable'],
  ])('takes commits on the same rows as any other: %s', async (isolation, query) => {
    await setDefault(isolation);
    const stores = [await open(query), await open(query)];
    const before = (await stores[0]!.get<number>(['sum']))?.value ?? 0;
    await Promise.all(stores.map(count));
    expect((await stores[1]!.get(['sum']))?.value).toBe(before + 2 * COMMITS);
  });
});
