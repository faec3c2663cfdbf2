import { describe, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { shareDatabase } from '../../support/servers/share-database.ts';
import { expectNothingLost } from './kill-rounds.ts';

/**
 * Kills in a run, since test/usage has a process die at every commit; `GATEWAY_TEST_KILLS=300` before a
 * release, which takes an hour.
 */
const ROUNDS = Number(process.env['GATEWAY_TEST_KILLS'] ?? 2);
const LONG = { timeout: 7_200_000 };
const STORES = [
  { driver: 'lmdb', program: undefined },
  { driver: 'redis', program: 'redis-server' },
  { driver: 'postgres', program: 'postgres' },
].map((store) => ({ ...store, path: store.program && findProgram(store.program) }));

describe.each(inTurn('kills under load', STORES))(
  'kills under load on $driver',
  ({ driver, program, path }) => {
    it.skipIf(program !== undefined && path === undefined)(
      verifies('store.journal.kills', 'lose no acknowledged record'),
      LONG,
      async () => {
        const database = program === undefined ? undefined : await shareDatabase(driver);
        await expectNothingLost({
          rounds: ROUNDS,
          store: { driver, ...(database && { options: database.options }) },
          server: database ? { secrets: { master_key: '${secret:env:MASTER}' } } : {},
        });
      },
    );
  },
);
