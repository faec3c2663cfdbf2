import { describe, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { findProgram, startPostgres, startRedis } from '../../store/support/database-server.ts';
import { expectNothingLost } from './kill-rounds.ts';

/** Kills on each store; `GATEWAY_TEST_KILLS=300` before a release, which takes an hour. */
const ROUNDS = Number(process.env['GATEWAY_TEST_KILLS'] ?? 20);
const LONG = { timeout: 7_200_000 };
const SERVERS = [
  { driver: 'redis', program: findProgram('redis-server'), start: startRedis },
  { driver: 'postgres', program: findProgram('postgres'), start: startPostgres },
] as const;

describe('very many kills under load', () => {
  it(
    verifies('store.journal.kills', 'lose no acknowledged record on the embedded store'),
    LONG,
    () => expectNothingLost({ rounds: ROUNDS, store: { driver: 'lmdb' } }),
  );

  for (const { driver, program, start } of SERVERS) {
    it.skipIf(program === undefined)(
      verifies('store.journal.kills', `lose no acknowledged record on ${driver}`),
      LONG,
      async () => {
        const server = await start(program ?? '');
        try {
          const place = driver === 'redis' ? { prefix: 'kills:' } : { schema: 'kills' };
          const store = { driver, options: { url: server.url, ...place } };
          const secrets = { master_key: '${secret:env:MASTER}' };
          await expectNothingLost({ rounds: ROUNDS, store, server: { secrets } });
        } finally {
          await server.stop();
        }
      },
    );
  }
});
