import { describe, expect, it } from 'vitest';
import { approximateSize } from '../../../src/core/json/approximate-size.ts';
import { readEvents } from '../../../src/sessions/log/read-events.ts';
import type { PlacedEvent } from '../../../src/sessions/log/session-event.ts';
import type { SessionLog } from '../../../src/sessions/log/session-log.ts';

const ROW = { id: 'sess_1', removed: undefined };
const placed = Array.from({ length: 5 }, (_, index) => {
  return { seq: index + 1, event: { id: `e${index + 1}`, type: 'system.message' } };
}) as unknown as PlacedEvent[];
const SIZE = approximateSize(placed[0]?.event);

/** A log that comes in chunks of two. */
const log = {
  async *chunks() {
    for (let from = 0; from < placed.length; from += 2) yield placed.slice(from, from + 2);
  },
} as unknown as SessionLog;

async function page(query: object, row: object = ROW) {
  const { events, next, removedAt } = await readEvents(log, row as typeof ROW, query);
  return { seqs: events.map(({ seq }) => seq), next, removedAt };
}

describe('a page of a log', () => {
  it.each([
    [1, [1], 1],
    [2, [1, 2], 2],
    [3, [1, 2, 3], 3],
    [5, [1, 2, 3, 4, 5], null],
    [9, [1, 2, 3, 4, 5], null],
  ])('of at most %i events says where the next one begins', async (limit, seqs, next) => {
    expect(await page({ limit })).toEqual({ seqs, next, removedAt: null });
  });

  it('ends once its events are as large as it may be, and has one at least', async () => {
    expect(await page({ maxSize: 2 * SIZE })).toMatchObject({ seqs: [1, 2], next: 2 });
    expect(await page({ maxSize: 2 * SIZE + 1 })).toMatchObject({ seqs: [1, 2, 3], next: 3 });
    expect(await page({ maxSize: 0 })).toMatchObject({ seqs: [1], next: 1 });
  });

  it('has those alone that are asked for', async () => {
    const matches = ({ id }: { id: string }): boolean => id === 'e2' || id === 'e5';
    expect(await page({ matches })).toMatchObject({ seqs: [2, 5], next: null });
    expect(await page({ matches, limit: 1 })).toMatchObject({ seqs: [2], next: 2 });
  });

  it('shows nothing of what was removed, and says since when', async () => {
    const row = { ...ROW, removed: { upTo: 3, at: '2026-11-28T00:00:00.000Z' } };
    expect(await page({}, row)).toEqual({ seqs: [4, 5], next: null, removedAt: row.removed.at });
  });
});
