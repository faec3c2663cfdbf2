import { describe, expect, it, vi } from 'vitest';
import { createSealer } from '../../../src/core/seal.ts';
import {
  dropAnswer,
  hasRoom,
  keepAnswer,
  readAnswer,
  toKeptAnswer,
} from '../../../src/server/idempotency/kept-answers.ts';
import type { KeptAnswer } from '../../../src/server/idempotency/kept-answers.ts';
import { keyOf } from '../../../src/server/idempotency/row.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { placeOf } from './call-place.ts';

const MIB = 1024 * 1024;
const DAY = 86_400_000;
const KEEP = 900_000;
const PLACE = placeOf(KEEP);
const KEY = keyOf(PLACE);
const SEALER = createSealer([Buffer.alloc(32, 7)]);

describe('an answer that is to be kept', () => {
  it('has bytes and headers as they are', () => {
    const body = Buffer.from('a');
    const headers = { 'x-a': '1' };
    expect(toKeptAnswer({ status: 201, headers, body })).toEqual({ status: 201, headers, body });
    expect(toKeptAnswer({ status: 204 })).toEqual({ status: 204, headers: {}, body: undefined });
  });

  it('has objects as JSON', () => {
    expect(toKeptAnswer({ status: 200, headers: { 'x-a': '1' }, body: { a: [1] } })).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json', 'x-a': '1' },
      body: Buffer.from('{"a":[1]}'),
    });
    const headers = { 'content-type': 'application/problem+json' };
    expect(toKeptAnswer({ status: 500, headers, body: {} }).headers).toEqual(headers);
  });
});

describe('the room for answers', () => {
  it('is for answers of up to 32 MiB', async () => {
    const increment = vi.fn(async () => 0);
    expect(await hasRoom(32 * MIB, 'org_1', { increment })).toBe(true);
    expect(await hasRoom(32 * MIB + 1, 'org_1', { increment })).toBe(false);
    expect(increment).toHaveBeenCalledTimes(1);
  });

  it('is 512 MiB a day for each organization', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    for (let kept = 0; kept < 512; kept += 32)
      expect(await hasRoom(32 * MIB, 'org_1', store)).toBe(true);
    expect(await hasRoom(1, 'org_1', store)).toBe(false);
    expect(await hasRoom(1, 'org_2', store)).toBe(true);
    clock.advance(DAY - 1);
    expect(await hasRoom(1, 'org_1', store)).toBe(false);
    clock.advance(1);
    expect(await hasRoom(1, 'org_1', store)).toBe(true);
  });
});

describe('a kept answer', () => {
  const setUp = () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    const deps = { store, sealer: SEALER };
    const keep = (answer: KeptAnswer, fits = true) =>
      keepAnswer(answer, { key: KEY, place: PLACE, fits }, SEALER);
    const answerOf = (body: Buffer | undefined): KeptAnswer => ({
      status: 201,
      headers: { 'x-a': '1' },
      body,
    });
    return { clock, store, deps, keep, answerOf };
  };

  /** One that takes two parts. */
  const LARGE = keepAnswer(
    { status: 201, headers: { 'x-a': '1' }, body: Buffer.alloc(8 * MIB + 1, 'a') },
    { key: KEY, place: PLACE, fits: true },
    SEALER,
  );

  it.each([
    [1, 1],
    [8 * MIB, 1],
    [8 * MIB + 1, 2],
  ])('with a body of %d bytes is read again from %d parts', async (size, count) => {
    const { store, deps, keep, answerOf } = setUp();
    const body = Buffer.alloc(size, 'abc');
    const { head, ops } = keep(answerOf(body));
    expect(head).toEqual({ status: 201, headers: { 'x-a': '1' }, hasBody: true, parts: count });
    expect(ops).toHaveLength(count);
    await store.commit(ops);
    const read = await readAnswer(KEY, head, deps);
    expect(read).toMatchObject({ status: 201, headers: { 'x-a': '1' } });
    expect(read?.body?.equals(body)).toBe(true);
  });

  it('tells an empty body from none', async () => {
    const { deps, keep, answerOf } = setUp();
    const [empty, none] = [keep(answerOf(Buffer.alloc(0))), keep(answerOf(undefined))];
    expect([...empty.ops, ...none.ops]).toEqual([]);
    expect(await readAnswer(KEY, empty.head, deps)).toEqual(answerOf(Buffer.alloc(0)));
    expect(await readAnswer(KEY, none.head, deps)).toEqual(answerOf(undefined));
  });

  it('is known to have been given where it does not fit', async () => {
    const { deps, keep, answerOf } = setUp();
    const { head, ops } = keep(answerOf(Buffer.from('a')), false);
    expect(head).toMatchObject({ hasBody: true, parts: null });
    expect(ops).toEqual([]);
    expect(await readAnswer(KEY, head, deps)).toBeUndefined();
  });

  it('is there for as long as its place says', async () => {
    const { clock, store, deps, keep, answerOf } = setUp();
    const { head, ops } = keep(answerOf(Buffer.from('a')));
    await store.commit(ops);
    clock.advance(KEEP - 1);
    expect(await readAnswer(KEY, head, deps)).toBeDefined();
    clock.advance(1);
    expect(await readAnswer(KEY, head, deps)).toBeUndefined();
  });

  it('is none where one of its parts is missing', async () => {
    const { store, deps } = setUp();
    const { head, ops } = LARGE;
    await store.commit(ops.slice(0, 1));
    expect(await readAnswer(KEY, head, deps)).toBeUndefined();
  });

  it('is dropped with all of its parts', async () => {
    const { store } = setUp();
    const { head, ops } = LARGE;
    await store.commit(ops);
    await store.commit(dropAnswer(KEY, head));
    expect(await store.list({ prefix: ['idempotency-part'] })).toEqual([]);
    expect(dropAnswer(KEY, { ...head, parts: null })).toEqual([]);
  });

  it('is kept apart from those of calls alike', async () => {
    const { store, deps, answerOf } = setUp();
    const keys = ['req_1', 'req_2'].map((call) => keyOf({ ...PLACE, call }));
    for (const key of keys) {
      const answer = answerOf(Buffer.from(String(key.at(-1))));
      const { head, ops } = keepAnswer(answer, { key, place: PLACE, fits: true }, SEALER);
      await store.commit(ops);
      expect(await readAnswer(key, head, deps)).toEqual(answer);
    }
    expect(await store.list({ prefix: ['idempotency-part'] })).toHaveLength(2);
  });

  it('is sealed for its own place and that of each part', async () => {
    const { store, deps } = setUp();
    const { head, ops } = LARGE;
    const stored = JSON.stringify(ops);
    expect(stored).not.toContain(Buffer.from('aaaaaa').toString('base64'));
    const [first, second] = ops;
    if (first?.type !== 'put' || second?.type !== 'put') throw new Error('no parts');
    await store.commit([
      { ...first, value: second.value },
      { ...second, value: first.value },
    ]);
    await expect(readAnswer(KEY, head, deps)).rejects.toMatchObject({ isChanged: true });
    const elsewhere = keyOf({ ...PLACE, name: 'b' });
    const [, organization = '', digest = ''] = elsewhere;
    await store.commit([{ ...first, key: ['idempotency-part', organization, digest, 0] }]);
    await expect(readAnswer(elsewhere, { ...head, parts: 1 }, deps)).rejects.toMatchObject({
      isChanged: true,
    });
  });
});
