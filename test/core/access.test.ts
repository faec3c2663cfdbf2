import { describe, expect, it } from 'vitest';
import { covers, ROLES } from '../../src/core/access.ts';
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
