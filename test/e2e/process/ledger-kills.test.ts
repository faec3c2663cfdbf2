import { describe, it } from 'vitest';
import { expectNothingLost } from './kill-rounds.ts';

/** Kills of each kind; the deep test makes many more. */
const ROUNDS = Number(process.env['GATEWAY_TEST_KILLS'] ?? 3);

describe('kill -9 under load', () => {
  it('loses no call that was answered, and counts none twice', async () => {
    await expectNothingLost({ rounds: ROUNDS, store: { driver: 'lmdb' } });
  });

  it('loses none that waited for the disk', async () => {
    await expectNothingLost({
      rounds: 1,
      store: { driver: 'lmdb' },
      server: { ledger_sync: 'call' },
    });
  });
});
