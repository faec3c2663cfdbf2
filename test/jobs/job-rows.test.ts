import { describe, expect, it } from 'vitest';
import {
  fromDueEntry,
  fromHeldKey,
  heldKey,
  jobKey,
  toAddOps,
  toChangeOps,
  toNewRow,
  toWakeOps,
} from '../../src/jobs/job-rows.ts';
import type { JobRow } from '../../src/jobs/job-rows.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const KIND = 'poll';
const JOB = { kind: KIND, id: 'a', payload: { n: 1 } };
const HELD = { ...JOB, holder: 'key_1' };

async function added(job: typeof JOB & { holder?: string }, at = 50): Promise<Store> {
  const store = openMemoryStore(createFakeClock());
  await store.commit(toAddOps(KIND, job.id, toNewRow(job, at)));
  return store;
}

/** Names of all rows that tell of jobs. */
async function namesIn(store: Store): Promise<string[]> {
  const rooms = ['job', 'job-due', 'job-held'];
  const rows = await Promise.all(rooms.map((room) => store.list({ prefix: [room], limit: 100 })));
  return rows.flat().map(({ key }) => key.join('/'));
}

const stored = async (store: Store) => {
  const entry = await store.get<JobRow>(jobKey(KIND, 'a'));
  if (!entry) throw new Error('the job is gone');
  return { entry, job: { kind: KIND, id: 'a', row: entry.value, version: entry.version } };
};

describe('the rows of a job', () => {
  it('are its own and its place among those that fall due, and one more where it has a holder', async () => {
    expect(await namesIn(await added(JOB))).toEqual(['job/poll/a', 'job-due/poll/50/a']);
    expect(await namesIn(await added(HELD))).toEqual([
      'job/poll/a',
      'job-due/poll/50/a',
      'job-held/poll/key_1/50/a',
    ]);
  });

  it('are for one of its name alone', async () => {
    const store = await added(JOB);
    const again = await store.commit(toAddOps(KIND, 'a', toNewRow(JOB, 60)));
    expect(again).toMatchObject({ ok: false });
    expect(await namesIn(store)).toHaveLength(2);
  });

  it.each([JOB, HELD])('are gone with it', async (job) => {
    const store = await added(job);
    await store.commit(toChangeOps((await stored(store)).job, undefined));
    expect(await namesIn(store)).toEqual([]);
  });

  it.each([JOB, HELD])('move with its time, all of them', async (job) => {
    const store = await added(job);
    const { job: before } = await stored(store);
    await store.commit(toChangeOps(before, { ...before.row, at: 70 }));
    expect(await namesIn(store)).toEqual(await namesIn(await added(job, 70)));
  });

  it('stay where they are while its time does, and are not changed by who saw another', async () => {
    const store = await added(HELD);
    const { job: before } = await stored(store);
    const next = { ...before.row, owner: 'w', attempt: 1 };
    expect(toChangeOps(before, next)).toHaveLength(1);
    expect(await store.commit(toChangeOps(before, next))).toMatchObject({ ok: true });
    expect(await store.commit(toChangeOps(before, undefined))).toMatchObject({ ok: false });
  });

  it('tell what they stand for', async () => {
    const store = await added(HELD);
    const [due] = await store.list<string | null>({ prefix: ['job-due'], limit: 1 });
    expect(due && fromDueEntry(due)).toEqual({ at: 50, id: 'a', holder: 'key_1' });
    expect(fromDueEntry({ key: ['job-due', KIND, 7, 'b'], value: null, version: '1' })).toEqual({
      at: 7,
      id: 'b',
    });
    const place = { at: 7, id: 'b', holder: 'key_2' };
    expect(fromHeldKey(heldKey(KIND, place))).toEqual(place);
  });
});

describe('a job that is woken', () => {
  const wokenAt = async (now: number, changes: Partial<JobRow> = {}) => {
    const store = await added(HELD);
    const { job } = await stored(store);
    await store.commit(toChangeOps(job, { ...job.row, ...changes }));
    await store.commit(toWakeOps(HELD, (await stored(store)).entry, now));
    return (await stored(store)).job.row;
  };

  it('is made where there is none', async () => {
    const store = openMemoryStore(createFakeClock());
    await store.commit(toWakeOps(HELD, undefined, 30));
    expect((await stored(store)).job.row).toEqual({
      at: 30,
      attempt: 0,
      failures: 0,
      owner: null,
      payload: { n: 1 },
      holder: 'key_1',
    });
  });

  it('falls due now where it waits for later', async () => {
    expect(await wokenAt(49)).toMatchObject({ at: 49 });
    expect(await wokenAt(51)).toMatchObject({ at: 50 });
    expect(await wokenAt(30, { owner: 'w' })).toMatchObject({ at: 50 });
  });

  it('holds off a change that came between', async () => {
    const store = await added(HELD);
    const { entry, job } = await stored(store);
    const ops = toWakeOps(HELD, entry, 51);
    await store.commit(toChangeOps(job, { ...job.row, attempt: 1 }));
    expect(await store.commit(ops)).toMatchObject({ ok: false });
  });
});
