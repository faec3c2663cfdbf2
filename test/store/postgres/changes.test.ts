import type pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CHANNEL, openChanges } from '../../../src/store/backends/postgres/changes.ts';
import type { Changes } from '../../../src/store/backends/postgres/changes.ts';
import {
  openPool,
  settingsOf,
  toPostgresPlace,
} from '../../../src/store/backends/postgres/connection.ts';
import { migrate } from '../../../src/store/backends/postgres/migrate.ts';
import type { Watchers } from '../../../src/store/watchers.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { shareDatabase, type SharedDatabase } from '../../support/servers/share-database.ts';
import { findProgram } from '../support/database-server.ts';

const program = findProgram('postgres');
/** Stands in the list of changes for all keys. */
const ALL = '*';

describe.skipIf(program === undefined)(
  'the changes that processes on PostgreSQL tell each other',
  () => {
    let server: SharedDatabase;
    let pool: pg.Pool;
    let schemas = 0;
    let schema: string;
    let opened: Changes[];

    beforeAll(async () => {
      server = await shareDatabase('postgres');
    });
    beforeEach(async () => {
      schema = `changes${++schemas}`;
      opened = [];
      pool = openPool(toPostgresPlace({ url: server.url, schema }));
      await migrate(pool, schema);
    });
    afterEach(async () => {
      await Promise.all(opened.map((one) => one.close()));
      await pool.end();
    });

    async function join() {
      const clock = createFakeClock();
      const heard: string[] = [];
      const watchers = {
        changed: (id: string) => void heard.push(id),
        changedAnything: () => void heard.push(ALL),
      } as unknown as Watchers;
      const settings = settingsOf(toPostgresPlace({ url: server.url, schema }));
      const changes = await openChanges({ settings, schema, pool, clock, watchers });
      opened.push(changes);
      return { changes, clock, heard };
    }

    /** A commit that nobody tells of. */
    const commit = () => pool.query(`select nextval('versions')`);
    const hears = ({ heard }: { heard: string[] }, ids: string[]) =>
      expect.poll(() => heard).toEqual(ids);

    it('come together a moment after the first, to all but the one that made them', async () => {
      const [teller, listener] = [await join(), await join()];
      teller.changes.tell(['a\0', 'b']);
      teller.changes.tell(['b', 'ü']);
      teller.clock.advance(9);
      await pool.query('select pg_notify($1, $2)', [`${schema}_${CHANNEL}`, 'other 1 ZW5k']);
      await hears(listener, ['end']);
      teller.clock.advance(1);
      await hears(listener, ['end', 'a\0', 'b', 'ü']);
      await hears(teller, ['end']);
    });

    it('are all told of as one where their names are too long for a notice', async () => {
      const [teller, listener] = [await join(), await join()];
      teller.changes.tell(Array.from({ length: 700 }, (_, index) => `key-${index}`));
      teller.clock.advance(10);
      await hears(listener, [ALL]);
    });

    it('are told before a process ends', async () => {
      const [teller, listener] = [await join(), await join()];
      teller.changes.tell(['a']);
      await teller.changes.close();
      await hears(listener, ['a']);
    });

    it('are found by looking where the process died before it told, and looked for once', async () => {
      const listener = await join();
      await commit();
      const look = async () => {
        const before = listener.clock.pending;
        listener.clock.advance(500);
        // The next look is planned when this one is over.
        await expect.poll(() => listener.clock.pending).toBe(before);
      };
      await look();
      expect(listener.heard).toEqual([]);
      await look();
      expect(listener.heard).toEqual([ALL]);
      await look();
      await look();
      expect(listener.heard).toEqual([ALL]);
    });

    it('may all have been missed while the connection was gone', async () => {
      const [teller, listener] = [await join(), await join()];
      const text = `select pg_terminate_backend(pid) from pg_stat_activity where query = $1`;
      const before = listener.clock.pending;
      await pool.query(text, [`listen ${schema}_${CHANNEL}`]);
      await expect.poll(() => listener.clock.pending).toBe(before + 1);
      listener.clock.advance(1_000);
      await expect.poll(() => listener.heard).toContain(ALL);
      listener.heard.length = 0;
      teller.changes.tell(['a']);
      teller.clock.advance(10);
      await hears(listener, ['a']);
    });
  },
);
