import { describe, expect, it } from 'vitest';
import {
  instant,
  oneOf,
  owner,
  toAuditQuery,
  toRequestQuery,
  words,
} from '../../../src/server/routes/report-queries.ts';

const query = (text: string) => new URLSearchParams(text);
const refusal = (param: string, message: string) =>
  expect.objectContaining({ code: 'invalid_request', param, message: `${param}: ${message}` });

/** The members that say something. */
const given = (record: object) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));

describe('a query for requests', () => {
  it('reads every parameter', () => {
    const search =
      '?organization=org_1&key=key_1&model=acme/one&conversation=c1&status=503' +
      '&from=2026-11-20&to=2026-11-21T12:00:00Z&limit=7&page=p1&else=x';
    expect(toRequestQuery(search)).toEqual({
      organization: 'org_1',
      key: 'key_1',
      model: 'acme/one',
      conversation: 'c1',
      status: 503,
      from: Date.UTC(2026, 10, 20),
      to: Date.UTC(2026, 10, 21, 12),
      limit: 7,
      page: 'p1',
    });
  });

  it('asks for everything where it says nothing', () => {
    expect(given(toRequestQuery(''))).toEqual({});
    expect(given(toRequestQuery('?status=&from=&to=&limit=&page='))).toEqual({});
  });

  it('takes an empty key, model or conversation at its word', () => {
    const names = { key: '', model: '', conversation: '' };
    expect(given(toRequestQuery('?key=&model=&conversation='))).toEqual(names);
  });

  it.each([
    ['200', 200],
    ['099', 99],
    ['ok', 'ok'],
    ['error', 'error'],
    ['aborted', 'aborted'],
    ['interrupted', 'interrupted'],
    ['pending', 'pending'],
  ])('takes %s for a status', (text, status) => {
    expect(toRequestQuery(`?status=${text}`).status).toBe(status);
  });

  it.each(['20', '2000', '20x', 'x200', '-20', 'OK', 'done'])(
    'refuses %s as a status',
    (status) => {
      const all = 'expected one of ok, error, aborted, interrupted, pending';
      expect(() => toRequestQuery(`?status=${status}`)).toThrow(refusal('status', all));
    },
  );

  it.each(['0', '-1', '1.5', 'x', '1e3'])('refuses %s as a limit', (limit) => {
    const message = 'expected a whole number of at least 1';
    for (const read of [toRequestQuery, toAuditQuery])
      expect(() => read(`?limit=${limit}`)).toThrow(refusal('limit', message));
  });
});

describe('a query for changes', () => {
  it('reads every parameter', () => {
    const search =
      '?organization=org_1&actor=key_1&action=update&kind=agent&object=agent_1&request=req_1' +
      '&from=2026-11-20&to=2026-11-21&limit=1&page=p1&status=200';
    expect(toAuditQuery(search)).toEqual({
      organization: 'org_1',
      actor: 'key_1',
      action: 'update',
      kind: 'agent',
      object: 'agent_1',
      request: 'req_1',
      from: Date.UTC(2026, 10, 20),
      to: Date.UTC(2026, 10, 21),
      limit: 1,
      page: 'p1',
    });
  });

  it('asks for everything where it says nothing', () => {
    const nothing = '?actor=&action=&kind=&object=&request=&from=&to=&limit=&page=';
    for (const search of ['', nothing]) expect(given(toAuditQuery(search))).toEqual({});
  });
});

describe('an owner', () => {
  it('is as long as keys of the store may be, and no longer', () => {
    expect(owner(query(''))).toBeUndefined();
    expect(owner(query('organization='))).toBe('');
    const longest = 'o'.repeat(256);
    expect(owner(query(`organization=${longest}`))).toBe(longest);
    expect(() => owner(query(`organization=${longest}o`))).toThrow(
      refusal('organization', 'is longer than 256 characters'),
    );
  });
});

describe('words', () => {
  it.each([
    ['', []],
    ['w=', []],
    ['w=a', ['a']],
    ['w=a,b', ['a', 'b']],
    ['w=,a,,b,', ['a', 'b']],
    ['w=b&w=a', ['b', 'a']],
    ['w[]=c&w=a,b&w[]=d', ['a', 'b', 'c', 'd']],
    ['v=a', []],
    ['w=a&w=a', ['a', 'a']],
  ])('of %j are %j', (text, found) => {
    expect(words(query(text), 'w')).toEqual(found);
  });
});

describe('a choice', () => {
  it('is one of those allowed as it is written there', () => {
    expect(oneOf(['a', 'b'], 'b', 'which')).toBe('b');
    for (const word of ['c', 'A', '', 'ab'])
      expect(() => oneOf(['a', 'b'], word, 'which')).toThrow(
        refusal('which', 'expected one of a, b'),
      );
  });
});

describe('an instant', () => {
  it.each([
    ['2026-11-21', Date.UTC(2026, 10, 21)],
    ['2026-11-21T01:02:03.004Z', Date.UTC(2026, 10, 21, 1, 2, 3, 4)],
    ['2026-11-21T01:00:00%2B01:00', Date.UTC(2026, 10, 21)],
    ['1970-01-01', 0],
    ['', undefined],
  ])('is read of %j', (text, at) => {
    expect(instant(query(`from=${text}`), 'from')).toBe(at);
  });

  it('is none where nothing is said, and refused where it is no time', () => {
    expect(instant(query('to=2026-11-21'), 'from')).toBeUndefined();
    for (const text of ['yesterday', '2026-13-01'])
      expect(() => instant(query(`from=${text}`), 'from')).toThrow(
        refusal('from', 'expected an RFC 3339 time or a date'),
      );
  });
});
