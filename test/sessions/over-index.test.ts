import { describe, expect, it } from 'vitest';
import { overKey, overKeyOf, overOps } from '../../src/sessions/over-index.ts';

const ROW = {
  id: 's',
  status: 'terminated' as const,
  archivedAt: null,
  lastAt: 5,
  head: 3,
};
const OPEN = { ...ROW, status: 'idle' as const };
const LATER = { ...ROW, lastAt: 6 };

describe('the place of a Session that is over', () => {
  it('is there by its last event once it ended, or was archived while idle', () => {
    expect(overKeyOf(ROW)).toEqual(['session-over', 5, 's']);
    expect(overKeyOf({ ...OPEN, archivedAt: 'then' })).toEqual(overKey(5, 's'));
  });

  it('is not there while it may go on', () => {
    expect(overKeyOf(OPEN)).toBeUndefined();
    expect(overKeyOf({ ...OPEN, status: 'running', archivedAt: 'then' })).toBeUndefined();
  });

  it('is not there once no event is left', () => {
    expect(overKeyOf({ ...ROW, head: 0 })).toBeUndefined();
    const removed = { upTo: 3, at: '2026-11-21T00:00:00.000Z' };
    expect(overKeyOf({ ...ROW, removed })).toBeUndefined();
    expect(overKeyOf({ ...ROW, head: 4, removed })).toEqual(overKey(5, 's'));
  });
});

describe('a change of a Session', () => {
  const put = (at: number) => ({ type: 'put', key: overKey(at, 's'), value: null });
  const remove = (at: number) => ({ type: 'delete', key: overKey(at, 's') });

  it.each([
    { does: 'ends it', before: OPEN, after: ROW, ops: [put(5)] },
    { does: 'opens it', before: ROW, after: OPEN, ops: [remove(5)] },
    { does: 'moves its last event', before: ROW, after: LATER, ops: [remove(5), put(6)] },
    { does: 'leaves it over', before: ROW, after: { ...ROW, head: 4 }, ops: [] },
    { does: 'leaves it open', before: OPEN, after: { ...OPEN, lastAt: 6 }, ops: [] },
    { does: 'removes it', before: ROW, after: undefined, ops: [remove(5)] },
  ])('that $does keeps the index', ({ before, after, ops }) => {
    expect(overOps(before, after)).toEqual(ops);
  });
});
