import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';
import { findProgram } from '../store/support/database-server.ts';
import { toText } from './report.ts';
import { runChaos } from './run-chaos.ts';
import type { Counts } from './run-chaos.ts';

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

const OPERATIONS = ['chat', 'event.send', 'key.revoke', 'run.trigger'];
const NAMED = ['agent', 'session', 'message', 'trigger', 'run'];

/** Of each kind one succeeded, and most named calls, which come in turn, were made. */
const isEnough = (counts: Counts): boolean =>
  OPERATIONS.every((what) => counts[what]?.['200'] !== undefined) &&
  NAMED.filter((kind) => counts[`named.${kind}`] !== undefined).length >= 3;

/** `npm run chaos` in short: the same load, each fault once, everything proven. */
async function expectAllProven(run: Run): Promise<void> {
  const result = await runChaos({ seed: SEED, ...run, isEnough });
  if (!result) throw new Error(`${run.backend} is not installed`);
  // An assertion would shorten it; what failed comes first.
  const faults = result.proofs.flatMap(({ title, faults }) =>
    faults.map((fault) => `${title}: ${fault}`),
  );
  if (faults.length > 0) throw new Error([...faults, toText(result)].join('\n'));
  expect(isEnough(result.counts), toText(result)).toBe(true);
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
