import { beforeEach, describe, expect, it } from 'vitest';
import { createSealer } from '../../../src/core/seal.ts';
import { OwnedCall, takenOver } from '../../../src/server/idempotency/owned-call.ts';
import { keyOf } from '../../../src/server/idempotency/row.ts';
import type { CallOwner, NameRow } from '../../../src/server/idempotency/row.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { CallAnswer } from '../../../src/store/named-call.ts';
import type { Op, Store } from '../../../src/store/store.ts';
import { StoreError } from '../../../src/store/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { placeOf } from './call-place.ts';

const KEEP = 86_400_000;
const PLACE = placeOf(KEEP);
const KEY = keyOf(PLACE);
const OWNER: CallOwner = { worker: 'w1', request: 'req_1' };
const OTHER: NameRow = { fingerprint: 'f', owner: { worker: 'w2', request: 'req_2' } };
const ANSWER: CallAnswer = { status: 201, headers: {}, body: Buffer.from('abc') };
const HEAD = { status: 201, headers: {}, hasBody: true, parts: 1 };
const AWAY = new StoreError('unavailable', 'away');
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a call that is this process’s to make', () => {
  let clock: FakeClock;
  let clockOfStore: FakeClock;
  let store: Store;
  let fault: Error | undefined;
  /** What a commit does although it is told to have failed. */
  let isMadeAllTheSame: boolean;
  let tries: number;
  let asked: number[];
  let reported: unknown[];
  let ends: number;
  beforeEach(() => {
    clock = createFakeClock();
    clockOfStore = createFakeClock();
    store = openMemoryStore(clockOfStore);
    fault = undefined;
    isMadeAllTheSame = false;
    tries = 0;
    asked = [];
    reported = [];
    ends = 0;
  });

  async function claim(more: Partial<NameRow> = {}): Promise<OwnedCall> {
    const row = { fingerprint: 'f', owner: OWNER, ...more } as NameRow & { owner: CallOwner };
    const done = await store.commit([{ type: 'put', key: KEY, value: row }]);
    if (!done.ok) throw new Error('not claimed');
    const watched: Store = {
      ...store,
      async get<T>(key: Op['key']) {
        return store.get<T>(key);
      },
      async commit(ops) {
        tries++;
        if (fault && isMadeAllTheSame) await store.commit(ops);
        if (fault) throw fault;
        return store.commit(ops);
      },
      async increment(key, by, options) {
        asked.push(by);
        return store.increment(key, by, options);
      },
    };
    return new OwnedCall({
      store: watched,
      clock,
      sealer: createSealer([Buffer.alloc(32, 7)]),
      key: KEY,
      place: PLACE,
      row,
      version: done.version,
      report: (error) => reported.push(error),
      onEnd: () => void ends++,
    });
  }

  const rowNow = async (): Promise<NameRow | undefined> => (await store.get<NameRow>(KEY))?.value;
  const takeOver = () => store.commit([{ type: 'put', key: KEY, value: OTHER }]);
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settled();
  };

  it('keeps its answer, for as long as its place says', async () => {
    const call = await claim();
    expect(await call.finish(ANSWER)).toBe(ANSWER);
    expect(await rowNow()).toEqual({ fingerprint: 'f', answer: HEAD });
    expect(ends).toBe(1);
    clockOfStore.advance(KEEP - 1);
    expect(await rowNow()).toBeDefined();
    clockOfStore.advance(1);
    expect(await rowNow()).toBeUndefined();
  });

  it('keeps its answer with the effect, which counts more than a later one', async () => {
    const call = await claim();
    await store.commit([...(await call.answered(ANSWER))]);
    expect(await rowNow()).toEqual({ fingerprint: 'f', answer: HEAD });
    expect(await call.finish({ ...ANSWER, status: 200 })).toBe(ANSWER);
    expect(await rowNow()).toEqual({ fingerprint: 'f', answer: HEAD });
    expect(ends).toBe(1);
  });

  it('keeps a later answer where the effect came to no commit', async () => {
    const call = await claim();
    await call.answered(ANSWER);
    const later = { ...ANSWER, status: 200 };
    expect(await call.finish(later)).toBe(later);
    expect((await rowNow())?.answer).toEqual({ ...HEAD, status: 200 });
  });

  it('asks once for the room of answers of one size', async () => {
    const call = await claim();
    await call.answered(ANSWER);
    await call.answered({ ...ANSWER, body: Buffer.from('xyz') });
    expect(asked).toEqual([3]);
    await call.finish({ status: 204 });
    expect(asked).toEqual([3, 0]);
  });

  it('answers with what it was given once another has its name', async () => {
    const call = await claim();
    await takeOver();
    expect(await call.finish(ANSWER)).toBe(ANSWER);
    expect(await rowNow()).toEqual(OTHER);
    expect(ends).toBe(1);
  });

  it('frees its name where nothing came of it', async () => {
    const call = await claim();
    expect(await call.release()).toBe(true);
    expect(await rowNow()).toBeUndefined();
    expect(ends).toBe(1);
  });

  it('does not free a name that another has', async () => {
    const call = await claim();
    await takeOver();
    expect(await call.release()).toBe(false);
    const given = await claim();
    await given.answered(ANSWER);
    await takeOver();
    expect(await given.release()).toBe(false);
    expect(await rowNow()).toEqual(OTHER);
    expect(ends).toBe(2);
  });

  it('leaves what it made to the next attempt', async () => {
    const call = await claim();
    expect(call.earlier).toBeUndefined();
    const trace = { request: 'req_1', lookUp: 'GET /x', made: 'run_1' };
    await store.commit([...(await call.made({ id: 'run_1', lookUp: 'GET /x' }))]);
    expect(await rowNow()).toEqual({ fingerprint: 'f', owner: OWNER, trace });
    expect(call.trace).toEqual(trace);
    expect(await call.release()).toBe(true);
    expect(await rowNow()).toEqual({ fingerprint: 'f', owner: null, trace });
  });

  it('goes on with what an earlier attempt made', async () => {
    const trace = { request: 'req_0', lookUp: 'GET /x', made: 'run_0' };
    const call = await claim({ trace });
    expect(call.earlier).toBe('run_0');
    expect(call.trace).toEqual(trace);
    await call.release();
    expect(await rowNow()).toEqual({ fingerprint: 'f', owner: null, trace });
  });

  it.each([
    [undefined, 'gateway logs req_1'],
    ['GET /v1/videos/video_1', 'GET /v1/videos/video_1'],
  ])('notes that it acts, to be looked up by %s', async (lookUp, shown) => {
    const call = await claim();
    await call.willAct(lookUp);
    const trace = { request: 'req_1', lookUp: shown };
    expect(await rowNow()).toEqual({ fingerprint: 'f', owner: OWNER, trace });
    expect(call.trace).toEqual(trace);
    await call.giveUp();
    expect(await rowNow()).toEqual({ fingerprint: 'f', trace, isUnknown: true });
    expect(ends).toBe(1);
  });

  it('keeps the answer of what it noted, without the note', async () => {
    const call = await claim();
    await call.willAct();
    await call.finish(ANSWER);
    expect(await rowNow()).toEqual({ fingerprint: 'f', answer: HEAD });
  });

  it('frees its name although it noted that it acts, where nothing came of it', async () => {
    const call = await claim();
    await call.willAct();
    expect(await call.release()).toBe(true);
    expect(await rowNow()).toBeUndefined();
  });

  it('gives up without a note by the record of its request', async () => {
    const call = await claim();
    await call.giveUp();
    const trace = { request: 'req_1', lookUp: 'gateway logs req_1' };
    expect(await rowNow()).toEqual({ fingerprint: 'f', trace, isUnknown: true });
  });

  it('acts no more once another has its name', async () => {
    const call = await claim();
    await takeOver();
    await expect(call.willAct()).rejects.toMatchObject({ type: 'idempotency_in_progress' });
    expect(call.trace).toBeUndefined();
    await expect(call.willAct()).rejects.toMatchObject({ type: 'idempotency_in_progress' });
    await expect(call.answered(ANSWER)).rejects.toMatchObject({ code: 'conflict' });
    await expect(call.made({ id: 'a', lookUp: 'b' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await rowNow()).toEqual(OTHER);
  });

  it('gives operations that conflict once another has its name', async () => {
    const call = await claim();
    const ops = await call.made({ id: 'run_1', lookUp: 'GET /x' });
    await takeOver();
    expect(await store.commit([...ops])).toMatchObject({ ok: false, conflict: KEY });
  });

  it('writes its end again after 1, 2, 4, 8, 16 and then every 30 seconds', async () => {
    const call = await claim();
    fault = AWAY;
    expect(await call.finish(ANSWER)).toBe(ANSWER);
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      tries = 0;
      await pass(seconds * 1_000 - 1);
      expect(tries, `${seconds} s`).toBe(0);
      await pass(1);
      expect(tries, `${seconds} s`).toBe(1);
    }
    expect(ends).toBe(0);
    fault = undefined;
    await pass(30_000);
    expect(await rowNow()).toEqual({ fingerprint: 'f', answer: HEAD });
    expect(ends).toBe(1);
    expect(reported).toEqual([AWAY]);
    expect(clock.pending).toBe(0);
  });

  it('writes its end once where the commit that failed was made all the same', async () => {
    const call = await claim();
    fault = AWAY;
    isMadeAllTheSame = true;
    await call.finish(ANSWER);
    const version = (await store.get(KEY))?.version;
    fault = undefined;
    await pass(1_000);
    expect((await store.get(KEY))?.version).toBe(version);
    expect(tries).toBe(1);
    expect(ends).toBe(1);
  });

  it('leaves the name alone that another has when the store is well again', async () => {
    const call = await claim();
    fault = AWAY;
    expect(await call.release()).toBe(true);
    await takeOver();
    fault = undefined;
    await pass(1_000);
    expect(await rowNow()).toEqual(OTHER);
    expect(ends).toBe(1);
  });

  it('does not write again what the store refuses', async () => {
    const call = await claim();
    fault = new StoreError('too_large', 'too large');
    expect(await call.finish(ANSWER)).toBe(ANSWER);
    expect(reported).toEqual([fault]);
    expect(ends).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('ends with a report where the store refuses what was to be written again', async () => {
    const call = await claim();
    fault = AWAY;
    await call.finish(ANSWER);
    const refusal = new StoreError('closed', 'closed');
    fault = refusal;
    await pass(1_000);
    expect(reported).toEqual([AWAY, refusal]);
    expect(ends).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('rejects with what is no failure of the store', async () => {
    const call = await claim();
    fault = new TypeError('a bug');
    await expect(call.finish(ANSWER)).rejects.toThrow('a bug');
    expect(reported).toEqual([]);
    expect(ends).toBe(0);
  });
});

it('tells who repeats a call that is under way to come back in a second', () => {
  expect(takenOver()).toMatchObject({
    status: 409,
    type: 'idempotency_in_progress',
    headers: { 'retry-after': '1' },
    retry: undefined,
  });
});
