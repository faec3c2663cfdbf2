import { describe, expect, it } from 'vitest';
import {
  dimensionsOf,
  monthRange,
  toUsageQuestion,
} from '../../../src/server/routes/usage-query.ts';
import { DAY } from '../../usage/usage-fixtures.ts';

const SUMMED_BY = { labels: ['team', 'a:b'], tags: ['job'] };
const ask = (search: string) => toUsageQuestion(search, SUMMED_BY);
const refusal = (param: string, message: string | RegExp) => {
  const text =
    typeof message === 'string'
      ? expect.stringContaining(`${param}: ${message}`)
      : expect.stringMatching(message);
  return expect.objectContaining({
    code: 'invalid_request',
    param,
    message: text,
  });
};

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => `conversation=c${index}`).join('&');

describe('a question about use', () => {
  it('asks for one sum of everything where it says nothing', () => {
    expect(ask('')).toEqual({ groupBy: [] });
    expect(ask('?group_by=&month=&from=&to=&conversation=&limit=')).toEqual({ groupBy: [] });
  });

  it('reads every parameter', () => {
    expect(
      ask('?group_by=day&from=2026-11-20&to=2026-11-21&organization=org_1&limit=5'),
    ).toMatchObject({
      groupBy: ['day'],
      from: Date.UTC(2026, 10, 20),
      to: Date.UTC(2026, 10, 21),
      organization: 'org_1',
      conversations: undefined,
      limit: 5,
    });
  });

  it.each([
    ['group_by=model,day', ['model', 'day']],
    ['group_by=model&group_by=day', ['model', 'day']],
    ['group_by[]=model&group_by[]=model,day', ['model', 'day']],
    ['group_by=label:team,tag:job', ['label:team', 'tag:job']],
    ['group_by=label:a:b', ['label:a:b']],
    ['group_by=conversation,day,organization', ['conversation', 'day', 'organization']],
    ['group_by=end_user', ['end_user']],
  ])('groups by each dimension once: %s', (search, groupBy) => {
    expect(ask(`?${search}`).groupBy).toEqual(groupBy);
  });

  it.each([
    ['label:job', 'use is not summed by label:job; add it to server.usage.labels'],
    ['tag:team', 'use is not summed by tag:team; add it to server.usage.tags'],
    ['label:', 'use is not summed by label:; add it to server.usage.labels'],
    ['label', 'expected one of organization, day, key'],
    [':team', 'expected one of organization, day, key'],
    ['team', 'expected one of organization, day, key'],
    ['Label:team', 'expected one of organization, day, key'],
    ['model:team', 'expected one of organization, day, key'],
  ])('refuses the dimension %s', (group, message) => {
    expect(() => ask(`?group_by=${group}`)).toThrow(refusal('group_by', message));
  });

  it('names the forms of labels and tags in its refusal', () => {
    expect(() => ask('?group_by=mood')).toThrow(
      refusal('group_by', /^group_by: .*, conversation, end_user, label:NAME, tag:NAME$/),
    );
  });

  it.each([
    ['group_by=conversation,model', 'conversation', 'model'],
    ['group_by=day,key,conversation', 'conversation', 'key'],
    ['group_by=end_user,label:team', 'end_user', 'label:team'],
    ['group_by=conversation,end_user', 'conversation', 'end_user'],
    ['group_by=end_user&conversation=c', 'conversation', 'end_user'],
    ['group_by=model&conversation=c', 'conversation', 'model'],
  ])('refuses to mix dimensions that are summed apart: %s', (search, part, other) => {
    const message = `${part} can be combined with day and organization, not with ${other}`;
    expect(() => ask(`?${search}`)).toThrow(refusal('group_by', message));
  });

  it('takes other dimensions together as long as none is summed apart', () => {
    const groups = ['organization', 'day', 'key', 'model', 'vendor', 'label:team'];
    expect(ask(`?group_by=${groups.join(',')}`).groupBy).toEqual(groups);
    expect(ask('?conversation=c&group_by=day,conversation').groupBy).toHaveLength(2);
  });

  it('bounds the rows of dimensions with many values alone, unless it is told a bound', () => {
    const limitOf = (search: string) => ask(`?${search}`).limit;
    expect(limitOf('group_by=conversation')).toBe(1_000);
    expect(limitOf('group_by=day,end_user')).toBe(1_000);
    expect(limitOf('group_by=model')).toBeUndefined();
    expect(limitOf('conversation=c')).toBeUndefined();
    expect(limitOf('group_by=conversation&limit=1001')).toBe(1_001);
    expect(limitOf('group_by=model&limit=2')).toBe(2);
    expect(() => ask('?limit=0')).toThrow(
      refusal('limit', 'expected a whole number of at least 1'),
    );
  });

  it('asks for each conversation once, and for a hundred at most', () => {
    expect(ask('?conversation=b&conversation=&conversation=a&conversation=b')).toMatchObject({
      conversations: ['b', 'a'],
    });
    expect(ask(`?${many(100)}&conversation=c0&conversation=`).conversations).toHaveLength(100);
    expect(() => ask(`?${many(101)}`)).toThrow(refusal('conversation', 'at most 100 at once'));
  });

  it('takes ids of conversations up to 256 characters', () => {
    const longest = 'c'.repeat(256);
    expect(ask(`?conversation=${longest}`).conversations).toEqual([longest]);
    expect(() => ask(`?conversation=a&conversation=${longest}c`)).toThrow(
      refusal('conversation', 'is longer than 256 characters'),
    );
  });

  it('takes a month or two instants, not both', () => {
    expect(ask('?month=2026-02')).toMatchObject({
      month: '2026-02',
      from: Date.UTC(2026, 1, 1),
      to: Date.UTC(2026, 2, 1),
    });
    expect(ask('?from=2026-11-20').month).toBeUndefined();
    for (const other of ['from=2026-11-20', 'to=2026-11-20', 'from=1970-01-01'])
      expect(() => ask(`?month=2026-11&${other}`), other).toThrow(
        refusal('month', 'cannot be combined with from and to'),
      );
  });
});

describe('the range of a month', () => {
  it.each([
    ['2026-11', 30],
    ['2026-12', 31],
    ['2026-02', 28],
    ['2028-02', 29],
    ['2026-01', 31],
  ])('of %s has %d days', (month, days) => {
    const { from, to } = monthRange(month);
    expect(new Date(from).toISOString()).toBe(`${month}-01T00:00:00.000Z`);
    expect((to - from) / DAY).toBe(days);
  });

  it.each(['2026-13', '2026-00', '2026-1', '26-11', '2026-111', '12026-11', '2026-11-01', 'x', ''])(
    'is refused for %j',
    (month) => {
      expect(() => monthRange(month)).toThrow(refusal('month', 'expected a month such as 2026-11'));
    },
  );
});

describe('the dimensions', () => {
  it('are the fixed ones, then labels, then tags', () => {
    const fixed = dimensionsOf({ labels: [], tags: [] });
    expect(fixed).toContain('schedule');
    expect(dimensionsOf(SUMMED_BY)).toEqual([...fixed, 'label:team', 'label:a:b', 'tag:job']);
  });
});
