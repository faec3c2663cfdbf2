import { beforeEach, describe, expect, it } from 'vitest';
import { createSealer } from '../../../src/core/seal.ts';
import type { OwnedCall } from '../../../src/server/idempotency/owned-call.ts';
import { createIdempotencyRecords } from '../../../src/server/idempotency/records.ts';
import type { IdempotencyRecords } from '../../../src/server/idempotency/records.ts';
import { keyOf } from '../../../src/server/idempotency/row.ts';
import type { CallPlace } from '../../../src/server/idempotency/row.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../../src/store/store.ts';
import type { Op, Store } from '../../../src/store/store.ts';
import { createWorkerLease } from '../../../src/usage/ledger/worker-lease.ts';
import { createCallWorkers } from '../../../src/server/idempotency/workers.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { placeOf, RIGHTS } from './call-place.ts';

const KEEP = 900_000;
const NAME = placeOf(KEEP);
const ANSWER = { status: 201, headers: {}, body: Buffer.from('{"a":1}') };
const settled = () => new Promise((resolve) => setImmediate(resolve));
const placeFor = (call: string): CallPlace => ({ ...NAME, call });

describe('records of calls that are alike', () => {
  let clock: FakeClock;
  let store: Store;
  let fault: StoreError | undefined;
  let reported: unknown[];
  let dead: Set<number>;
  let here: IdempotencyRecords;
  let there: IdempotencyRecords;
  beforeEach(async () => {
    clock = createFakeClock();
    const memory = openMemoryStore(clock);
    store = {
      ...memory,
      commit: (ops: readonly Op[]) => (fault ? Promise.reject(fault) : memory.commit(ops)),
    };
    fault = undefined;
    reported = [];
    dead = new Set();
    here = await open(1);
    there = await open(2);
  });

  /** What one process has. */
  async function open(pid: number): Promise<IdempotencyRecords> {
    const worker = `worker_${pid}`;
    const lease = createWorkerLease({ store, clock, worker });
    await lease.start();
    const own = { host: 'h', pid, started: '1' };
    const liveness = { own, isGone: (place: typeof own) => dead.has(place.pid) };
    return createIdempotencyRecords({
      store,
      clock,
      sealer: createSealer([Buffer.alloc(32, 7)]),
      workers: createCallWorkers({ worker, lease, liveness }),
      report: (error) => reported.push(error),
    });
  }

  /** Makes a call, which is known from now on. */
  async function begin(call: string, records = here): Promise<OwnedCall> {
    const claimed = await records.claim({
      place: placeFor(call),
      fingerprint: 'f',
      rights: RIGHTS,
      request: call,
    });
    if (claimed.type !== 'own') throw new Error(claimed.type);
    return claimed;
  }

  const again = (call: string, request: string, records = there) =>
    records.claimKnown({ place: placeFor(call), fingerprint: 'f', rights: RIGHTS, request });
  /** Ends an attempt at a call, by its name and that of its request, in the process that made it. */
  const settle = ([call, request]: [string, string], wasTold: boolean, records = here) =>
    records.settle({ place: placeFor(call), request }, wasTold);

  it('lists those that are known, the oldest first', async () => {
    expect(await here.callsAlike(NAME)).toEqual([]);
    await begin('req_2');
    await begin('req_1');
    expect(await there.callsAlike(NAME)).toEqual([placeFor('req_1'), placeFor('req_2')]);
    expect(await there.callsAlike({ ...NAME, path: '/v1/skills' })).toEqual([]);
  });

  it('know no more of a call whose client was told', async () => {
    await (await begin('req_1')).finish(ANSWER);
    expect(await again('req_1', 'req_9')).toEqual({ type: 'under-way' });
    await settle(['req_1', 'req_1'], true);
    expect(await again('req_1', 'req_9')).toBeUndefined();
    expect(await store.list({ prefix: ['idempotency-part'] })).toEqual([]);
  });

  it('give an answer that was lost to one other attempt at a time', async () => {
    await (await begin('req_1')).finish(ANSWER);
    await settle(['req_1', 'req_1'], false);
    expect(await again('req_1', 'req_2')).toEqual({ type: 'answered', answer: ANSWER });
    expect(await again('req_1', 'req_3')).toEqual({ type: 'under-way' });
    await settle(['req_1', 'req_2'], false, there);
    expect(await again('req_1', 'req_3')).toEqual({ type: 'answered', answer: ANSWER });
    await settle(['req_1', 'req_3'], true, there);
    expect(await again('req_1', 'req_4')).toBeUndefined();
  });

  it('leave the end of a call to the attempt that has it', async () => {
    await (await begin('req_1')).finish(ANSWER);
    await settle(['req_1', 'req_1'], false);
    await again('req_1', 'req_2');
    await settle(['req_1', 'req_1'], true);
    expect(await again('req_1', 'req_3')).toEqual({ type: 'under-way' });
  });

  it('give the answer of a process that died before its client was told', async () => {
    const call = await begin('req_1');
    await store.commit([...(await call.answered(ANSWER))]);
    expect(await again('req_1', 'req_2')).toEqual({ type: 'under-way' });
    dead.add(1);
    expect(await again('req_1', 'req_2')).toEqual({ type: 'answered', answer: ANSWER });
  });

  it('leave an answer that was kept with its effect to the next attempt after a failure', async () => {
    const call = await begin('req_1');
    await store.commit([...(await call.answered(ANSWER))]);
    expect(await call.release()).toBe(false);
    await settle(['req_1', 'req_1'], false);
    expect(await again('req_1', 'req_2')).toEqual({ type: 'answered', answer: ANSWER });
  });

  it('leave what was made to the next attempt, unless the client was told', async () => {
    const call = await begin('req_1');
    await store.commit([...(await call.made({ id: 'run_1', lookUp: 'GET /x' }))]);
    await call.release();
    expect(await again('req_1', 'req_2')).toEqual({ type: 'under-way' });
    await settle(['req_1', 'req_1'], false);
    const second = await again('req_1', 'req_2');
    expect(second).toMatchObject({ type: 'own', earlier: 'run_1' });
    await (second as OwnedCall).release();
    await settle(['req_1', 'req_2'], true, there);
    expect(await again('req_1', 'req_3')).toBeUndefined();
  });

  it('say that nobody knows what came of a call until a client was told', async () => {
    const call = await begin('req_1');
    await call.willAct();
    await call.giveUp();
    await settle(['req_1', 'req_1'], false);
    expect(await again('req_1', 'req_2')).toMatchObject({ type: 'unknown' });
    await settle(['req_1', 'req_2'], true, there);
    expect(await again('req_1', 'req_3')).toBeUndefined();
  });

  it('end a call when its own last row is written', async () => {
    const call = await begin('req_1');
    const end = settle(['req_1', 'req_1'], false);
    await settled();
    await call.finish(ANSWER);
    await end;
    expect(await again('req_1', 'req_2')).toEqual({ type: 'answered', answer: ANSWER });
  });

  it('end a call later where the store is away', async () => {
    await (await begin('req_1')).finish(ANSWER);
    fault = new StoreError('unavailable', 'away');
    await settle(['req_1', 'req_1'], true);
    expect(reported).toEqual([fault]);
    fault = undefined;
    expect(await again('req_1', 'req_2')).toEqual({ type: 'under-way' });
    clock.advance(1_000);
    await settled();
    expect(await store.get(keyOf(placeFor('req_1')))).toBeUndefined();
    expect(reported).toHaveLength(1);
  });

  it('give up the end of a call that the store refuses', async () => {
    await (await begin('req_1')).finish(ANSWER);
    const { pending } = clock;
    fault = new StoreError('closed', 'closed');
    await settle(['req_1', 'req_1'], true);
    expect(reported).toEqual([fault]);
    expect(clock.pending).toBe(pending);
    fault = undefined;
    expect((await again('req_1', 'req_2', here))?.type).toBe('answered');
  });
});
