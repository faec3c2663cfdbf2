import { describe, expect, it } from 'vitest';
import { toDeadline } from '../../src/core/time/deadline.ts';
import { correctDue, isDueAhead } from '../../src/jobs/correct-due.ts';
import { jobKey, toAddOps, toChangeOps, toNewRow } from '../../src/jobs/job-rows.ts';
import type { JobRow } from '../../src/jobs/job-rows.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const KIND = 'poll';
const NOW = 1_000_000_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;
/** Times by a clock that is right, and by one an hour ahead. */
const RIGHT = toDeadline(NOW, MINUTE);
const AHEAD = toDeadline(NOW + HOUR, MINUTE);

async function setUp(times: readonly number[]) {
  const store = openMemoryStore(createFakeClock(NOW));
  for (const [index, at] of times.entries()) {
    const id = `job-${String(index).padStart(4, '0')}`;
    await store.commit(toAddOps(KIND, id, toNewRow({ kind: KIND, id, payload: null }, at)));
  }
  const rows = await store.list<JobRow>({ prefix: ['job', KIND], limit: 2_000 });
  const timesOf = async () =>
    (await store.list<JobRow>({ prefix: ['job', KIND], limit: 2_000 })).map(
      ({ value }) => value.at,
    );
  const duesOf = async () =>
    (await store.list({ prefix: ['job-due', KIND], limit: 2_000 })).map(({ key }) =>
      Number(key[2]),
    );
  return { store, rows, timesOf, duesOf };
}

describe('jobs that a clock ahead of this one has timed', () => {
  it('are told by the last of their kind', async () => {
    const options = { kind: KIND, now: NOW };
    const { store } = await setUp([RIGHT, AHEAD]);
    expect(await isDueAhead({ ...options, store })).toBe(true);
    expect(await isDueAhead({ ...options, store, kind: 'other' })).toBe(false);
    expect(await isDueAhead({ ...options, store: (await setUp([RIGHT])).store })).toBe(false);
  });

  it('wait for their length from now on, others as they did', async () => {
    const instant = NOW + 2 * HOUR;
    const { store, timesOf, duesOf } = await setUp([RIGHT, AHEAD, instant, NOW - 5]);
    await correctDue({ store, kind: KIND, now: NOW });
    expect(await timesOf()).toEqual([RIGHT, RIGHT, instant, NOW - 5]);
    expect(await duesOf()).toEqual([NOW - 5, RIGHT, RIGHT, instant]);
  });

  it('are corrected over any number of pages', async () => {
    const { store, timesOf, duesOf } = await setUp(Array.from({ length: 1_200 }, () => AHEAD));
    await correctDue({ store, kind: KIND, now: NOW });
    expect(new Set(await timesOf())).toEqual(new Set([RIGHT]));
    expect(await duesOf()).toHaveLength(1_200);
  });

  it('stay as others leave them that change them meanwhile', async () => {
    const { store, rows, timesOf } = await setUp([AHEAD, AHEAD]);
    const [first] = rows;
    const changed = {
      ...store,
      async get<T>(key: readonly (string | number)[]) {
        const entry = await store.get<T>(key);
        if (first && key.at(-1) === 'job-0000') {
          const job = { kind: KIND, id: 'job-0000', row: first.value, version: first.version };
          await store.commit(toChangeOps(job, { ...first.value, at: NOW + 7 }));
        }
        return entry;
      },
    } as typeof store;
    await correctDue({ store: changed, kind: KIND, now: NOW });
    expect(await timesOf()).toEqual([NOW + 7, RIGHT]);
  });

  it('are left alone that were timed anew, or are gone, since they were listed', async () => {
    const { store, rows, timesOf } = await setUp([AHEAD, AHEAD]);
    const later = {
      ...store,
      async list<T>(options: Parameters<typeof store.list>[0]) {
        const page = await store.list<T>(options);
        for (const [index, { value: row, version }] of rows.entries()) {
          const id = `job-000${index}`;
          const next = index === 0 ? undefined : { ...row, at: NOW + HOUR };
          await store.commit(toChangeOps({ kind: KIND, id, row, version }, next));
        }
        return page;
      },
    } as typeof store;
    await correctDue({ store: later, kind: KIND, now: NOW });
    expect(await timesOf()).toEqual([NOW + HOUR]);
    expect(await store.get(jobKey(KIND, 'job-0000'))).toBeUndefined();
  });
});
