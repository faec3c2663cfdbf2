import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { MIGRATIONS } from '../../src/store/backends/postgres/schema.ts';
import { openRaw } from '../../src/store/raw/open-raw.ts';
import { storeConformance, type StoreSite } from '../conformance/store.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { shareDatabase, type SharedDatabase } from '../support/servers/share-database.ts';
import { findProgram } from './support/database-server.ts';

const program = findProgram('postgres');
let server: SharedDatabase;
let sites = 0;

describe.skipIf(program === undefined)('on PostgreSQL', () => {
  beforeAll(async () => {
    server = await shareDatabase('postgres');
  });

  storeConformance('postgres', async (clock) => {
    const options = { url: server.url, schema: `site${++sites}`, connections: 4 };
    const open = () => openStore({ driver: 'postgres', options }, { clock });
    const site: StoreSite = {
      store: await open(),
      async reopen() {
        await site.store.close();
        return (site.store = await open());
      },
    };
    return site;
  });

  it(
    verifies(
      'store.migrations',
      'a store of format 1 is brought forward whole or not at all, a newer one is left alone',
    ),
    async () => {
      const clock = createFakeClock();
      const config = { driver: 'postgres', options: { url: server.url, schema: 'old' } };
      const open = () => openStore(config, { clock });
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      const tables = async () => {
        const found = await client.query<{ name: string }>(
          `select table_name as name from information_schema.tables where table_schema = 'old' order by 1`,
        );
        return found.rows.map(({ name }) => name);
      };
      try {
        await client.query(
          'create schema old; set search_path = old; create table format (version int not null)',
        );
        await client.query(MIGRATIONS[0]!);
        await client.query('insert into format values (1); create table meta (in_the_way int)');
        await expect(open()).rejects.toMatchObject({ code: 'unavailable' });
        expect((await client.query('select version from format')).rows).toEqual([{ version: 1 }]);
        await client.query('drop table meta');
        const old = await openRaw(config, { clock, isHeld: false });
        expect(old).toMatchObject({ format: 1, meta: {} });
        await old.close();
        expect(await tables()).toEqual(['format', 'pings', 'rows']);
        const opened = await Promise.all([open(), open(), open()]);
        await opened[0].commit([{ type: 'put', key: ['k'], value: 'kept' }]);
        for (const store of opened) expect((await store.get(['k']))?.value).toBe('kept');
        await Promise.all(opened.map((store) => store.close()));
        const raw = await openRaw(config, { clock, isHeld: false });
        expect(raw).toMatchObject({ format: 2, meta: { identity: expect.any(String) } });
        await raw.close();
        await client.query('update format set version = 99; drop table meta');
        const refused = { code: 'newer_format', message: expect.stringMatching(/format 99/) };
        await expect(open()).rejects.toMatchObject(refused);
        await expect(openRaw(config, { clock, isHeld: false })).rejects.toMatchObject(refused);
        expect(await tables()).toEqual(['format', 'pings', 'rows']);
      } finally {
        await client.end();
      }
    },
  );
});
