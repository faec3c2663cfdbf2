import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { findProgram } from '../store/support/database-server.ts';
import { toText } from './report.ts';
import { hasFailed, runChaos } from './run-chaos.ts';

const SEED = 20_260;
/** A quarter of a minute of load, and patience for a machine that has much else to do. */
const TIMEOUT_MS = 600_000;

const PROGRAMS = { lmdb: undefined, redis: 'redis-server', postgres: 'postgres' } as const;
type Backend = keyof typeof PROGRAMS;
const LEDGERS = { lmdb: 'before_call', redis: 'auto', postgres: 'during_call' } as const;

/** A gateway with workers beside one without. */
const MIXED = { processes: 2, workers: [2, 1], rounds: 1 };
const FAST = { ...MIXED, seconds: 15, rate: 4 };
/** Leases do not run out within it; a long run by hand waits for that. */
const REAL = { ...MIXED, seconds: 10, rate: 1 };

/** `npm run chaos` in short: the same load, each fault once, everything proven. */
async function expectAllProven(backend: Backend, setUp: typeof FAST): Promise<void> {
  const short = { ...setUp, ledger: LEDGERS[backend] };
  const result = await runChaos({ backend, seed: SEED, ...short });
  if (!result) throw new Error(`${backend} is not installed`);
  expect(hasFailed(result) ? toText(result) : '').toBe('');
  for (const what of ['chat', 'event.send', 'key.revoke', 'run.trigger'])
    expect(result.counts[what]?.['200'] ?? 0, what).toBeGreaterThan(0);
  for (const kind of ['agent', 'session', 'message', 'trigger', 'run'])
    expect(Object.keys(result.counts[`named.${kind}`] ?? {}), kind).not.toEqual([]);
  expect(new Set(result.faults.map(({ kind }) => kind)).size).toBeGreaterThan(2);
}

const isMissing = (backend: Backend): boolean => {
  const program = PROGRAMS[backend];
  return program !== undefined && findProgram(program) === undefined;
};

describe('gateways that are killed, paused and cut off under load', () => {
  it(
    verifies(
      'store.durability.ack',
      'store.ledger.exactly-once',
      'store.ledger.never-exceeds',
      'store.ledger.durable-before-last-byte',
      'store.ledger.release-on-restart',
      'store.events.append-order',
      'idempotency.message-once',
      'ops.chaos.workers',
      'keep every promise on lmdb, whose disk fills up as well',
    ),
    () => expectAllProven('lmdb', FAST),
    TIMEOUT_MS,
  );

  it.skipIf(isMissing('redis'))(
    verifies(
      'store.multi-node',
      'store.durability.ack',
      'store.ledger.exactly-once',
      'store.ledger.never-exceeds',
      'idempotency.message-once',
      'store.ledger.durable-before-last-byte',
      'ops.chaos.workers',
      'keep every promise on Redis, which is killed as well',
    ),
    () => expectAllProven('redis', FAST),
    TIMEOUT_MS,
  );

  it.skipIf(isMissing('postgres'))(
    verifies(
      'store.multi-node',
      'store.durability.ack',
      'store.ledger.exactly-once',
      'store.ledger.never-exceeds',
      'idempotency.message-once',
      'store.ledger.durable-before-last-byte',
      'ops.chaos.workers',
      'keep every promise on PostgreSQL, which is killed as well',
    ),
    () => expectAllProven('postgres', FAST),
    TIMEOUT_MS,
  );

  for (const backend of Object.keys(PROGRAMS) as Backend[]) {
    it.skipIf(isMissing(backend))(
      verifies('ops.chaos.workers', `keep every promise in real time, too, on ${backend}`),
      () => expectAllProven(backend, REAL),
      TIMEOUT_MS,
    );
  }
});
