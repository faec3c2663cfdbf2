import { describe, expect, it } from 'vitest';
import { covers, keyState, ROLES } from '../../src/core/access.ts';
import type { Rights } from '../../src/core/access.ts';

const rights = (scopes: Rights['scopes'], role: Rights['role'] = null): Rights => ({
  scopes,
  role,
});

describe('the rights of a key', () => {
  it('cover those of one with fewer scopes, and with none named all but admin', () => {
    expect(covers(rights(['run', 'models']), rights(['models']))).toBe(true);
    expect(covers(rights(['models']), rights(['run', 'models']))).toBe(false);
    expect(covers(rights(null), rights(['run', 'skills']))).toBe(true);
    expect(covers(rights(null), rights(['admin']))).toBe(false);
    expect(covers(rights(['admin']), rights(null))).toBe(false);
    expect(covers(rights(['models']), rights([]))).toBe(true);
  });

  it('cover those of a role that allows less', () => {
    const covered = (one: Rights['role']) =>
      ROLES.filter((other) => covers(rights(null, one), rights(null, other)));
    expect(covered(null)).toEqual(ROLES);
    expect(covered('admin')).toEqual(ROLES);
    expect(covered('operator')).toEqual(['operator', 'billing', 'viewer']);
    expect(covered('viewer')).toEqual(['billing', 'viewer']);
    expect(covered('billing')).toEqual(['billing']);
    expect(covers(rights(null, 'viewer'), rights(null))).toBe(false);
  });
});

describe('the state of a key', () => {
  const now = Date.parse('2026-11-29T12:00:00Z');
  const [before, after] = ['2026-11-29T12:00:00Z', '2026-11-29T12:00:00.001Z'];

  it.each([
    [{}, 'active'],
    [{ enabled: true, expires_at: null, revoked_at: null }, 'active'],
    [{ expires_at: after }, 'active'],
    [{ expires_at: before }, 'expired'],
    [{ enabled: false, expires_at: before }, 'expired'],
    [{ enabled: false, revoked_at: before, expires_at: before }, 'revoked'],
    [{ enabled: false }, 'disabled'],
  ])('of %j is %s', (key, state) => {
    expect(keyState(key, now)).toBe(state);
  });

  it('is disabled where the organization is, unless it is over anyway', () => {
    expect(keyState({}, now, false)).toBe('disabled');
    expect(keyState({ revoked_at: before }, now, false)).toBe('revoked');
  });
});
