import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';
import { findProgram } from '../store/support/database-server.ts';
import { toText } from './report.ts';
import { hasFailed, runChaos } from './run-chaos.ts';

const SEED = 20_260;
/** Some seconds of load, and patience for a machine that has much else to do. */
const TIMEOUT_MS = 600_000;

const PROGRAMS = { lmdb: undefined, redis: 'redis-server', postgres: 'postgres' } as const;

/** A gateway with workers beside one without. */
const MIXED = { processes: 2, workers: [2, 1], rounds: 1, kills: 1 };
/** Leases just run out within it. */
const FAST = { ...MIXED, seconds: 10, rate: 4 };
/** They do not within this; a long run by hand waits for that. */
const REAL = { ...MIXED, seconds: 4, rate: 1 };
/** A Latin square: each row has every store and every mode of the ledger once, and one run in real time. */
const SQUARE = [
  [
    { backend: 'lmdb', ledger: 'before_call', ...REAL },
    { backend: 'redis', ledger: 'auto', ...FAST },
    { backend: 'postgres', ledger: 'during_call', ...FAST },
  ],
  [
    { backend: 'lmdb', ledger: 'auto', ...FAST },
    { backend: 'redis', ledger: 'during_call', ...REAL },
    { backend: 'postgres', ledger: 'before_call', ...FAST },
  ],
  [
    { backend: 'lmdb', ledger: 'during_call', ...FAST },
    { backend: 'redis', ledger: 'before_call', ...FAST },
    { backend: 'postgres', ledger: 'auto', ...REAL },
  ],
] as const;
type Run = (typeof SQUARE)[number][number];

/** `npm run chaos` in short: the same load, each fault once, everything proven. */
async function expectAllProven(run: Run): Promise<void> {
  const result = await runChaos({ seed: SEED, ...run });
  if (!result) throw new Error(`${run.backend} is not installed`);
  expect(hasFailed(result) ? toText(result) : '').toBe('');
  for (const what of ['chat', 'event.send', 'key.revoke', 'run.trigger'])
    expect(result.counts[what]?.['200'] ?? 0, what).toBeGreaterThan(0);
  // They come in turn: a slow machine does not reach the last of them in the time of a run.
  const named = ['agent', 'session', 'message', 'trigger', 'run'].filter(
    (kind) => result.counts[`named.${kind}`] !== undefined,
  );
  expect(named.length).toBeGreaterThanOrEqual(3);
  expect(result.faults.filter(({ target }) => target === 'nobody')).toEqual([]);
  expect(result.faults.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['kill', 'kill-worker', 'pause']),
  );
}

const isMissing = ({ backend }: Run): boolean => {
  const program = PROGRAMS[backend];
  return program !== undefined && findProgram(program) === undefined;
};

describe('gateways that are killed, paused and cut off under load', () => {
  for (const run of inTurn('chaos', SQUARE).flat()) {
    const { backend, ledger, rate } = run;
    it.skipIf(isMissing(run))(
      verifies(
        'loop.chaos-cells',
        'store.multi-node',
        'store.durability.ack',
        'store.ledger.exactly-once',
        'store.ledger.never-exceeds',
        'store.ledger.durable-before-last-byte',
        'store.ledger.release-on-restart',
        'store.ledger.chaos-sum',
        'store.events.append-order',
        'idempotency.message-once',
        'ops.chaos.workers',
        `keep every promise on ${backend} with the ledger ${ledger}, ${rate === 1 ? 'in real time' : 'fast'}`,
      ),
      () => expectAllProven(run),
      TIMEOUT_MS,
    );
  }
});
