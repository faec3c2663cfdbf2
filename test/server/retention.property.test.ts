import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIdSource } from '../../src/core/ids.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import { TURN_JOB } from '../../src/sessions/log/job-kinds.ts';
import { NOTIFY_JOB } from '../../src/scheduler/job-kinds.ts';
import { beginOps, decideOps } from '../../src/scheduler/run-ops.ts';
import { createRunSweep } from '../../src/scheduler/run-sweep.ts';
import { runKey, slotKey } from '../../src/scheduler/run-row.ts';
import type { RunRow } from '../../src/scheduler/run-row.ts';
import { createSessions } from '../../src/sessions/create-sessions.ts';
import { createEventSweep } from '../../src/sessions/log/event-sweep.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createLedger } from '../../src/usage/ledger/ledger-store.ts';
import type { LedgerEntry } from '../../src/usage/ledger/ledger.ts';
import { readSpend } from '../../src/usage/spend/read-spend.ts';
import { listRequests } from '../../src/usage/requests/request-log.ts';
import { createRequestSweep } from '../../src/usage/requests/request-sweep.ts';
import { usageReport } from '../../src/usage/requests/usage-report.ts';
import { createWorkerLease } from '../../src/usage/ledger/worker-lease.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { verifies } from '../requirements.ts';
import { echoRunner, newSession, ORG, say } from '../sessions/support.ts';
import { findProgram } from '../store/support/database-server.ts';
import { shareDatabase } from '../support/servers/share-database.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { sweepRound } from '../support/sweep-round.ts';
import {
  createFaultyStore,
  createStarts,
  outcome,
  principal,
  turns,
} from '../usage/usage-fixtures.ts';

const HOUR = 3_600_000;
const AGE = 24 * HOUR;
const START = Date.parse('2026-11-01T00:00:00Z');

/** Something that there is, made one hour or more after the one before. */
type Thing = { hours: number } & (
  | { kind: 'session'; notes: number; hasTurn: boolean; end: 'archive' | 'terminate' | null }
  | { kind: 'call'; key: number; cost: number; isOpen: boolean }
  | { kind: 'run'; schedule: number; state: 'pending' | 'untold' | 'told'; isTimed: boolean }
);

const hours = fc.integer({ min: 0, max: 8 });
const session = fc.record({
  kind: fc.constant('session' as const),
  hours,
  notes: fc.integer({ min: 0, max: 230 }),
  hasTurn: fc.boolean(),
  end: fc.constantFrom('archive' as const, 'terminate' as const, null),
});
const call = fc.record({
  kind: fc.constant('call' as const),
  hours,
  key: fc.integer({ min: 1, max: 2 }),
  cost: fc.nat(90),
  isOpen: fc.boolean(),
});
const run = fc.record({
  kind: fc.constant('run' as const),
  hours,
  schedule: fc.nat(2),
  state: fc.constantFrom('pending' as const, 'untold' as const, 'told' as const),
  isTimed: fc.boolean(),
});
const things: fc.Arbitrary<Thing[]> = fc.array(fc.oneof(session, call, run), {
  minLength: 5,
  maxLength: 30,
});

/** Schedules 0 and 1 are there, 2 was deleted. */
const repository = {
  find: async (_definition: unknown, id: string) => (id === 'depl_2' ? undefined : { id }),
} as unknown as Parameters<typeof createRunSweep>[0]['repository'];

async function populate(store: Store, clock: FakeClock, made: readonly Thing[]) {
  const ids = createIdSource(clock);
  const jobs = createJobs({ store, clock, worker: 'a' });
  const { sessions, handlers } = createSessions({ store, clock, ids, jobs, runner: echoRunner });
  const lease = createWorkerLease({ store, clock, worker: 'w' });
  await lease.start();
  const ledger = createLedger({ store, clock, worker: 'w' });
  const start = createStarts(clock);
  const open: LedgerEntry[] = [];
  const now = START + made.reduce((sum, thing) => sum + thing.hours * HOUR, 0) + HOUR;
  const before = now - AGE;
  /** What must be there when all is done, by what it is. */
  const kept = { sessions: new Map<string, number>(), calls: [] as string[], runs: [] as RunRow[] };
  const spent = { 1: 0, 2: 0 } as Record<number, number>;
  const runs: { row: RunRow; thing: Thing & { kind: 'run' } }[] = [];
  let pendingTurns = 0;

  const makeSession = async (thing: Thing & { kind: 'session' }): Promise<void> => {
    const { session: fresh } = await sessions.create(newSession());
    const note = { type: 'system.message', content: [{ type: 'text', text: 'note' }] };
    for (let left = thing.notes; left > 0; left -= 100)
      await sessions.send(
        ORG,
        fresh.id,
        Array.from({ length: Math.min(left, 100) }, () => note),
      );
    if (thing.hasTurn) await sessions.send(ORG, fresh.id, [say('go')]);
    if (thing.end === 'archive') await sessions.archive(ORG, fresh.id);
    if (thing.end === 'terminate') await sessions.terminate(ORG, fresh.id, { reason: 'enough' });
    const { head } = await sessions.get(ORG, fresh.id);
    const isOver = thing.end !== null && !thing.hasTurn && clock.now() < before;
    kept.sessions.set(fresh.id, isOver ? 0 : head);
    if (thing.hasTurn) pendingTurns++;
  };
  const makeCall = async ({ key, cost, isOpen }: Thing & { kind: 'call' }): Promise<void> => {
    const payer = principal({
      keyId: `key_${key}`,
      keySpend: key === 1 ? { lifetime: 1_000_000, day: 500_000 } : null,
    });
    const begun = start({ principal: payer, bound: 100 });
    const entry = ledger.begin(begun);
    await (entry.admitted ?? entry.durable);
    if (isOpen) open.push(entry);
    else {
      entry.settle(outcome({ cost }));
      await ledger.drain();
      spent[key] = (spent[key] ?? 0) + cost;
    }
    if (isOpen || clock.now() >= before) kept.calls.push(begun.id);
  };
  const makeRun = async (thing: Thing & { kind: 'run' }): Promise<void> => {
    const deploymentId = `depl_${thing.schedule}`;
    const row: RunRow = {
      id: ids.next('drun'),
      organization: ORG,
      deploymentId,
      agent: null,
      trigger: thing.isTimed
        ? { type: 'schedule', scheduledAt: clock.now() + runs.length }
        : { type: 'manual' },
      payer: { keyId: 'key_1', keyName: 'first', organizationId: ORG },
      sessionId: null,
      error: null,
      createdAt: new Date(clock.now()).toISOString(),
    };
    const slot =
      row.trigger.type === 'schedule' ? [slotKey(deploymentId, row.trigger.scheduledAt)] : [];
    await store.commit([
      ...beginOps(row),
      ...slot.map((key) => ({ type: 'put' as const, key, value: row.id })),
    ]);
    const entry = await store.get(runKey(row.id));
    const decided = { ...row, sessionId: 'sess_x' };
    if (thing.state !== 'pending')
      await store.commit([
        ...decideOps(decided, entry?.version ?? ''),
        ...(thing.state === 'untold'
          ? jobs.toAdd({ kind: NOTIFY_JOB, id: row.id, payload: null })
          : []),
      ]);
    runs.push({ row: thing.state === 'pending' ? row : decided, thing });
  };
  for (const thing of made) {
    clock.step(thing.hours * HOUR);
    if (thing.kind === 'session') await makeSession(thing);
    else if (thing.kind === 'call') await makeCall(thing);
    else await makeRun(thing);
  }
  clock.step(HOUR);
  expect(clock.now()).toBe(now);
  for (const { row, thing } of runs) {
    const siblings = runs.filter((one) => one.thing.schedule === thing.schedule);
    const isNewest = thing.schedule !== 2 && siblings.at(-1)?.row.id === row.id;
    const isYoung = Date.parse(row.createdAt) >= before;
    if (thing.state !== 'told' || isNewest || isYoung) kept.runs.push(row);
  }
  await turns();
  await ledger.drain();
  return { before, kept, open, ledger, lease, sessions, jobs, handlers, spent, pendingTurns };
}

/** What nobody may see change. */
async function money(store: Store, now: number) {
  const scopes = [
    { kind: 'key', id: 'key_1' },
    { kind: 'key', id: 'key_2' },
    { kind: 'organization', id: 'org_1' },
  ] as const;
  return [
    await Promise.all(scopes.map((scope) => readSpend({ store }, scope, now))),
    await usageReport({ store }, { groupBy: ['day', 'key', 'model'] }),
  ];
}

async function check(
  open: (clock: FakeClock) => Promise<Store>,
  made: readonly Thing[],
  { faults, limit }: { faults: readonly ('before' | 'after' | null)[]; limit: number },
): Promise<void> {
  const clock = createFakeClock(START);
  const store = await open(clock);
  const there = await populate(store, clock, made);
  const { before, kept, sessions, jobs } = there;
  try {
    const cost = await money(store, clock.now());
    // Every commit may be the last thing that a process did, made or not.
    const faulty = createFaultyStore(store);
    let commits = 0;
    const commit: Store['commit'] = async (ops) => {
      const fault = faults[commits++ % (faults.length || 1)] ?? undefined;
      faulty.fail(fault);
      try {
        return await faulty.commit(ops);
      } finally {
        faulty.fail(undefined);
      }
    };
    const cut: Store = { ...store, commit };
    const sweeps = [
      createEventSweep({ store: cut, clock }),
      createRequestSweep(cut),
      createRunSweep({ store: cut, repository }),
    ];
    for (const sweep of sweeps) await sweepRound(sweep, before, limit);
    expect(await money(store, clock.now())).toEqual(cost);
    await expectKept(store, sessions, kept);
    // A second round finds nothing.
    for (const sweep of sweeps) expect((await sweepRound(sweep, before, limit)).removed).toBe(0);
    // What was open goes on: calls are charged for once, Sessions run their turns.
    for (const entry of there.open) entry.settle(outcome({ cost: 7 }));
    await there.ledger.drain();
    const owner = { kind: 'organization', id: 'org_1' } as const;
    const life = await readSpend({ store }, owner, clock.now());
    const settled = (there.spent[1] ?? 0) + (there.spent[2] ?? 0) + there.open.length * 7;
    expect(life.lifetime).toEqual({ settled, reserved: 0 });
    jobs.start(there.handlers);
    while ((await store.list({ prefix: ['job', TURN_JOB] })).length > 0) {
      await turns();
      clock.advance(10);
    }
    const page = await sessions.list(ORG, { limit: 100, order: 'asc', includeArchived: true });
    expect(page.every(({ status }) => status === 'idle' || status === 'terminated')).toBe(true);
    expect(page).toHaveLength(kept.sessions.size);
  } finally {
    await jobs.close();
    await there.lease.release();
    await store.close();
  }
}

async function expectKept(
  store: Store,
  sessions: Awaited<ReturnType<typeof populate>>['sessions'],
  kept: Awaited<ReturnType<typeof populate>>['kept'],
): Promise<void> {
  const counts = await Promise.all(
    Array.from(kept.sessions.keys(), async (id) => {
      const rows = await store.list({ prefix: ['session-event', id], limit: 1_000 });
      const names = await store.list({ prefix: ['session-event-id', id], limit: 1_000 });
      const { events } = await sessions.read(ORG, id, { limit: 1_000 });
      expect([names.length, events.length]).toEqual([rows.length, rows.length]);
      return [id, rows.length] as const;
    }),
  );
  expect(new Map(counts)).toEqual(kept.sessions);
  const { data } = await listRequests({ store }, { limit: 1_000 });
  expect(data.map(({ id }) => id).sort()).toEqual(kept.calls);
  const runs = await store.list<RunRow>({ prefix: ['schedule-run'], limit: 1_000 });
  expect(runs.map(({ value }) => value)).toEqual(kept.runs);
  const listed = await store.list({ prefix: ['schedule-run-by'], limit: 1_000 });
  expect(listed).toHaveLength(kept.runs.length * 2);
  const slots = await store.list({ prefix: ['schedule-slot'], limit: 1_000 });
  const claimed = kept.runs.filter(({ trigger }) => trigger.type === 'schedule');
  expect(slots.map(({ value }) => String(value)).sort()).toEqual(
    claimed.map(({ id }) => id).sort(),
  );
}

const fault = fc.constantFrom(null, null, 'before' as const, 'after' as const);
const cuts = fc.record({
  // One commit at least gets through, so that a round has an end.
  faults: fc.array(fault, { maxLength: 7 }).map((list) => [...list, null]),
  limit: fc.constantFrom(1, 3, 500),
});

describe('what is removed past its age', () => {
  it(
    verifies('store.retention', 'is exactly what nobody needs, wherever a process dies in it'),
    async () => {
      const open = (clock: FakeClock) => openStore({ driver: 'memory' }, { clock });
      await fc.assert(
        fc.asyncProperty(things, cuts, (made, cut) => check(open, made, cut)),
        { numRuns: 40 },
      );
    },
    120_000,
  );

  it('is the same in the embedded store', async () => {
    const open = async (clock: FakeClock) =>
      openStore({ driver: 'lmdb', path: await temporaryDirectory() }, { clock });
    await fc.assert(
      fc.asyncProperty(things, cuts, (made, cut) => check(open, made, cut)),
      { numRuns: 5, endOnFailure: true },
    );
  }, 120_000);

  const redis = findProgram('redis-server');
  it.skipIf(redis === undefined)(
    'is the same in Redis',
    async () => {
      const { url, name } = await shareDatabase('redis');
      let sites = 0;
      const open = (clock: FakeClock) => {
        const options = { url, prefix: `${name}_${++sites}:` };
        return openStore({ driver: 'redis', options }, { clock });
      };
      await fc.assert(
        fc.asyncProperty(things, cuts, (made, cut) => check(open, made, cut)),
        { numRuns: 3, endOnFailure: true },
      );
    },
    120_000,
  );
});
