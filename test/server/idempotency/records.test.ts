import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSealer } from '../../../src/core/seal.ts';
import type { OwnedCall } from '../../../src/server/idempotency/owned-call.ts';
import { createIdempotencyRecords } from '../../../src/server/idempotency/records.ts';
import type { Claim, IdempotencyRecords } from '../../../src/server/idempotency/records.ts';
import type { CallPlace } from '../../../src/server/idempotency/row.ts';
import { createCallWorkers } from '../../../src/server/idempotency/workers.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Op, Store } from '../../../src/store/store.ts';
import { StoreError } from '../../../src/store/store.ts';
import { createWorkerLease } from '../../../src/usage/ledger/worker-lease.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { verifies } from '../../requirements.ts';
import { RIGHTS } from './call-place.ts';
import { inTurn } from '../../runs.ts';

const DAY = 86_400_000;
const LEASE = 15_000;
const PLACE: CallPlace = {
  organization: 'org_1',
  key: 'key_1',
  path: '/v1/agents',
  name: 'a',
  keepMs: DAY,
};
const ANSWER = {
  status: 201,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"a":1}'),
};
const THING = ['thing'];
const put = (value: string): Op => ({ type: 'put', key: THING, value });

const DRIVERS = inTurn('stores of records of calls', ['memory', 'lmdb']);

describe.each(DRIVERS)('records of calls that name themselves, in %s', (driver) => {
  let clock: FakeClock;
  let store: Store;
  let directory: string;
  let reported: unknown[];
  let dead: Set<number>;
  let requests: number;
  let here: IdempotencyRecords;
  let there: IdempotencyRecords;
  beforeEach(async () => {
    clock = createFakeClock();
    directory = await mkdtemp(join(tmpdir(), 'gateway-'));
    store = await openStore({ driver, path: join(directory, 'store') }, { clock });
    reported = [];
    dead = new Set();
    requests = 0;
    here = await open(1);
    there = await open(2);
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** What one process has; `isSeen`: on a host that shows its processes. */
  async function open(pid: number, { isSeen = true, of = store } = {}) {
    const worker = `worker_${pid}`;
    const lease = createWorkerLease({ store: of, clock, worker });
    await lease.start();
    const own = { host: 'h', pid, started: '1' };
    const liveness = isSeen
      ? { own, isGone: (place: typeof own) => dead.has(place.pid) }
      : undefined;
    return createIdempotencyRecords({
      store: of,
      clock,
      sealer: createSealer([KEY]),
      workers: createCallWorkers({ worker, lease, liveness }),
      report: (error) => reported.push(error),
    });
  }

  function claim(records: IdempotencyRecords, place = PLACE, fingerprint = 'f'): Promise<Claim> {
    return records.claim({ place, fingerprint, rights: RIGHTS, request: `req_${++requests}` });
  }

  /** Resolves when all that was begun before is written. */
  async function written(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) {
      await new Promise(setImmediate);
      await store.commit([put('x')]);
    }
  }

  async function own(records: IdempotencyRecords, place = PLACE): Promise<OwnedCall> {
    const claimed = await claim(records, place);
    if (claimed.type !== 'own') throw new Error(claimed.type);
    return claimed;
  }

  /** A millisecond less than a day, of which only the last minutes pass timer by timer. */
  function almostDay(): void {
    clock.step(DAY - 5 * 60_000);
    clock.advance(5 * 60_000 - 1);
  }

  it(verifies('routing.idempotency-key', 'keep an answer for 24 hours and no longer'), async () => {
    await (await own(here)).finish(ANSWER);
    almostDay();
    expect(await claim(there)).toEqual({ type: 'answered', answer: ANSWER });
    clock.advance(1);
    expect((await claim(there)).type).toBe('own');
  });

  it('belong to one organization, key, path and name', async () => {
    await (await own(here)).finish(ANSWER);
    for (const [member, value] of Object.entries({
      organization: 'org_2',
      key: 'key_2',
      path: '/v1/skills',
      name: 'b',
    }))
      expect((await claim(here, { ...PLACE, [member]: value })).type).toBe('own');
    expect((await claim(here, PLACE, 'g')).type).toBe('other-body');
  });

  it('let one of many callers make a call', async () => {
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, index) => claim(index % 2 ? here : there)),
    );
    expect(claims.filter(({ type }) => type === 'own').length).toBe(1);
    expect(claims.filter(({ type }) => type === 'under-way').length).toBe(19);
  });

  it('hold a call while its process lives, however long, and let it go when nothing came of it', async () => {
    const call = await own(here);
    // Longer than a lease, and than a step of the clock takes to count.
    for (let minute = 0; minute < 3; minute++) {
      for (let beat = 0; beat < 12; beat++) {
        clock.advance(5_000);
        await written();
      }
      expect((await claim(there)).type).toBe('under-way');
      expect((await claim(here)).type).toBe('under-way');
    }
    await call.release();
    expect((await claim(there)).type).toBe('own');
  });

  it(
    verifies(
      'idempotency.repeat-wait',
      'give the call of a process that is seen to have died to the next one at once',
    ),
    async () => {
      await own(here);
      expect((await claim(there)).type).toBe('under-way');
      dead.add(1);
      expect((await claim(there)).type).toBe('own');
    },
  );

  it('give the call of a process that cannot be seen to the next one when its lease is out', async () => {
    const stopped = withSwitch(store);
    const far = await open(3, { isSeen: false, of: stopped.store });
    await own(far);
    stopped.fail();
    clock.advance(LEASE - 1);
    expect((await claim(there)).type).toBe('under-way');
    clock.advance(1);
    expect((await claim(there)).type).toBe('own');
  });

  it('commit a name with its effect, or neither', async () => {
    const first = await own(here);
    const late = await first.answered({ status: 201, body: { a: 1 } });
    dead.add(1);
    const second = await own(there);
    expect(await store.commit([put('second'), ...(await second.answered(ANSWER))])).toMatchObject({
      ok: true,
    });
    expect(await store.commit([put('first'), ...late])).toMatchObject({ ok: false });
    await expect(first.answered(ANSWER)).rejects.toMatchObject({
      type: 'idempotency_in_progress',
    });
    expect(await first.release()).toBe(false);
    expect((await store.get(THING))?.value).toBe('second');
    expect(await claim(there)).toEqual({ type: 'answered', answer: ANSWER });
  });

  it('give operations anew for a commit that others came in the way of', async () => {
    const call = await own(here);
    await call.answered({ status: 201, body: { a: 1 } });
    await store.commit([put('x'), ...(await call.answered(ANSWER))]);
    await call.finish({ ...ANSWER, status: 200 });
    expect(await claim(there)).toEqual({ type: 'answered', answer: ANSWER });
  });

  it('keep the answer of a call whose effect came to no commit', async () => {
    const call = await own(here);
    await call.answered({ status: 201, body: { a: 1 } });
    await call.finish(ANSWER);
    expect(await claim(there)).toEqual({ type: 'answered', answer: ANSWER });
  });

  it('tell the next one what a call made before its process died, and again', async () => {
    const call = await own(here);
    await store.commit([put('x'), ...(await call.made({ id: 'run_1', lookUp: 'GET /x' }))]);
    dead.add(1);
    const second = await own(there);
    expect(second.earlier).toBe('run_1');
    expect(await second.release()).toBe(true);
    const third = await own(there);
    expect(third.earlier).toBe('run_1');
    await third.finish(ANSWER);
    expect(await claim(there)).toEqual({ type: 'answered', answer: ANSWER });
  });

  it(
    verifies(
      'idempotency.outcome-unknown',
      'say for 24 hours that nobody knows what came of a call that may have acted',
    ),
    async () => {
      const call = await own(here);
      await call.willAct('GET /v1/videos/video_1');
      expect((await claim(there)).type).toBe('under-way');
      dead.add(1);
      const unknown = { type: 'unknown', trace: { lookUp: 'GET /v1/videos/video_1' } };
      expect(await claim(there)).toMatchObject(unknown);
      await call.finish(ANSWER);
      almostDay();
      expect(await claim(there)).toMatchObject(unknown);
      clock.advance(1);
      expect((await claim(there)).type).toBe('own');
    },
  );

  it('keep what came of a call that acted, and free the name where nothing did', async () => {
    const kept = await own(here);
    await kept.willAct();
    await kept.finish(ANSWER);
    expect((await claim(there)).type).toBe('answered');
    const place = { ...PLACE, name: 'b' };
    const refused = await own(here, place);
    await refused.willAct();
    expect(await refused.release()).toBe(true);
    expect((await claim(there, place)).type).toBe('own');
  });

  it('keep bytes and an empty body as they were', async () => {
    const bodies = [randomBytes(70_000), Buffer.alloc(0), undefined];
    for (const [index, body] of bodies.entries()) {
      const place = { ...PLACE, name: `body-${index}` };
      await (await own(here, place)).finish({ ...ANSWER, body });
      const found = await claim(there, place);
      if (found.type !== 'answered') throw new Error(found.type);
      if (body === undefined) expect(found.answer.body).toBeUndefined();
      else expect(found.answer.body?.equals(body)).toBe(true);
    }
  });

  it('do not keep what is too much, yet do not let it be made again', async () => {
    const large = Buffer.alloc(33 * 1024 * 1024);
    await (await own(here)).finish({ ...ANSWER, body: large });
    expect(await claim(there)).toEqual({ type: 'forgotten' });
    await store.increment(['idempotency-bytes', 'org_1'], 512 * 1024 * 1024);
    const place = { ...PLACE, name: 'over-budget' };
    await (await own(here, place)).finish(ANSWER);
    expect(await claim(there, place)).toEqual({ type: 'forgotten' });
    expect(await store.list({ prefix: ['idempotency-part'] })).toEqual([]);
  });

  it('write an end that the store did not take when it is well again', async () => {
    const failing = withSwitch(store);
    const records = await open(3, { of: failing.store });
    const call = await own(records);
    failing.fail();
    await call.finish(ANSWER);
    expect(reported.length).toBe(1);
    clock.advance(1_000);
    await written();
    expect((await claim(there)).type).toBe('under-way');
    failing.heal();
    clock.advance(2_000);
    await written();
    expect(await claim(there)).toEqual({ type: 'answered', answer: ANSWER });
    expect(reported.length).toBe(1);
  });
});

const KEY = randomBytes(32);

/** A store that can be taken away. */
function withSwitch(store: Store): { store: Store; fail(): void; heal(): void } {
  let isAway = false;
  const guard = <T>(work: () => Promise<T>): Promise<T> =>
    isAway ? Promise.reject(new StoreError('unavailable', 'away')) : work();
  return {
    store: {
      ...store,
      get: <T>(key: readonly (string | number)[]) => guard(() => store.get<T>(key)),
      commit: (ops) => guard(() => store.commit(ops)),
      increment: (key, by, options) => guard(() => store.increment(key, by, options)),
    },
    fail: () => (isAway = true),
    heal: () => (isAway = false),
  };
}
