import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Stored } from '../../../src/resources/store/stored.ts';
import {
  claimedOf,
  dueKey,
  dueOps,
  firstDue,
  isClaimed,
  upcomingDue,
  withClaim,
} from '../../../src/resources/store/due-index.ts';

const stored = (next_due_at: number | null) =>
  ({ id: 'depl_1', organization: 'org_1', state: { next_due_at } }) as unknown as Stored;

const DAILY = { expression: '0 7 * * *', timezone: 'UTC' };
const at = (text: string) => Date.parse(text);

describe('the index of due Schedules', () => {
  const put = { type: 'put', key: dueKey(7, 'depl_1'), value: { organization: 'org_1' } };
  const gone = { type: 'delete', key: dueKey(5, 'depl_1') };

  it.each<[string, number | null | undefined, number | null | undefined, object[]]>([
    ['is made with a Schedule', undefined, 7, [put]],
    ['moves', 5, 7, [gone, put]],
    ['stays', 7, 7, []],
    ['begins', null, 7, [put]],
    ['ends', 5, null, [gone]],
    ['goes with its Schedule', 5, undefined, [gone]],
    ['has nothing of one that never fires', null, undefined, []],
  ])('%s', (...[, before, next, ops]) => {
    const from = before === undefined ? undefined : stored(before);
    expect(dueOps(from, next === undefined ? undefined : stored(next))).toEqual(ops);
  });

  it('begins behind now and behind the last instant that was taken', () => {
    const now = at('2026-11-21T06:00:00Z');
    expect(firstDue(DAILY, { now, lastSlot: null, unclaimed: [] })).toBe(
      at('2026-11-21T07:00:00Z'),
    );
    const lastSlot = at('2026-11-22T07:00:00Z');
    expect(firstDue(DAILY, { now, lastSlot, unclaimed: [] })).toBe(at('2026-11-23T07:00:00Z'));
    const later = at('2026-12-01T07:00:00Z');
    expect(firstDue(DAILY, { now: later, lastSlot, unclaimed: [] })).toBe(
      at('2026-12-02T07:00:00Z'),
    );
  });

  it('knows which instants were passed over, whatever order they are claimed in', () => {
    const schedule = { expression: '0 * * * *', timezone: 'UTC' };
    const hour = 3_600_000;
    const begun = at('2026-11-21T00:00:00Z');
    const clocks = fc.array(
      fc.record({ hour: fc.integer({ min: 1, max: 60 }), passes: fc.integer({ min: 0, max: 5 }) }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(clocks, (moves) => {
        const fired = new Set<number>();
        let claimed = claimedOf({});
        let next = begun + hour;
        for (const { hour: place, passes } of moves) {
          let now = begun + place * hour - 1;
          if (claimed.lastSlot !== null && claimed.lastSlot > now)
            next = firstDue(schedule, { ...claimed, now })!;
          for (let i = 0; i <= passes; i++, now += hour) {
            if (next > now) continue;
            const slot = Math.floor(now / hour) * hour;
            if (!isClaimed(claimed, slot)) {
              expect(fired.has(slot)).toBe(false);
              fired.add(slot);
            }
            claimed = claimedOf(withClaim(schedule, claimed, { from: next, slot, isFired: true }));
            next = firstDue(schedule, { ...claimed, now })!;
            expect(next).toBeGreaterThan(now);
            expect(fired.has(next)).toBe(false);
          }
        }
        for (const one of upcomingDue(schedule, { ...claimed, now: begun }, 70))
          expect(fired.has(one)).toBe(false);
      }),
      { numRuns: 40 },
    );
  });
});
