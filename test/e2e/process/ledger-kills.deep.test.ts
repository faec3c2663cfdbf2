import { describe, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { shareDatabase } from '../../support/servers/share-database.ts';
import { expectNothingLost } from './kill-rounds.ts';

/**
 * Kills on each store, since test/usage has a process die at every commit; `GATEWAY_TEST_KILLS=300`
 * before a release, which takes an hour.
 */
const ROUNDS = Number(process.env['GATEWAY_TEST_KILLS'] ?? 2);
const LONG = { timeout: 7_200_000 };
const SERVERS = [
  { driver: 'redis', program: findProgram('redis-server') },
  { driver: 'postgres', program: findProgram('postgres') },
] as const;

describe('kills under load', () => {
  it(
    verifies('store.journal.kills', 'lose no acknowledged record on the embedded store'),
    LONG,
    () => expectNothingLost({ rounds: ROUNDS, store: { driver: 'lmdb' } }),
  );

  for (const { driver, program } of SERVERS) {
    it.skipIf(program === undefined)(
      verifies('store.journal.kills', `lose no acknowledged record on ${driver}`),
      LONG,
      async () => {
        const { options } = await shareDatabase(driver);
        const secrets = { master_key: '${secret:env:MASTER}' };
        const store = { driver, options };
        await expectNothingLost({ rounds: ROUNDS, store, server: { secrets } });
      },
    );
  }
});
