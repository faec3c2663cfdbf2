import { describe, expect, it } from 'vitest';
import type { Stored } from '../../src/resources/define-resource.ts';
import { dueKey, dueOps, firstDue } from '../../src/resources/due-index.ts';

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
    expect(firstDue(DAILY, { now, lastSlot: null })).toBe(at('2026-11-21T07:00:00Z'));
    const lastSlot = at('2026-11-22T07:00:00Z');
    expect(firstDue(DAILY, { now, lastSlot })).toBe(at('2026-11-23T07:00:00Z'));
    const later = at('2026-12-01T07:00:00Z');
    expect(firstDue(DAILY, { now: later, lastSlot })).toBe(at('2026-12-02T07:00:00Z'));
  });
});
