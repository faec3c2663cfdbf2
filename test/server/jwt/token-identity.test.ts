import { describe, expect, it } from 'vitest';
import { jwtSettings } from '../../../src/config/schema/jwt-schema.ts';
import type { JwtIssuer } from '../../../src/config/schema/jwt-schema.ts';
import { readIdentity } from '../../../src/server/jwt/token-identity.ts';

function issuer(more: object): JwtIssuer {
  const declared = { issuer: 'https://id.example', audience: 'a', organization: 'team', ...more };
  const { issuers } = jwtSettings.parse({ issuers: { corp: declared } });
  return { name: 'corp', ...issuers['corp']! };
}

describe('what a token says', () => {
  it('is its subject alone where the issuer asks for no more', () => {
    expect(readIdentity({ sub: 'alice', rpm: 5 }, issuer({}))).toEqual({
      subject: 'alice',
      organization: 'team',
      scopes: ['inference', 'models'],
      fields: {},
    });
  });

  it('is read by names with dots, and by paths', () => {
    const claims = { sub: 'a', 'https://x.example/team': 'blue', realm: { roles: ['r', 's', 3] } };
    const read = readIdentity(
      claims,
      issuer({
        labels: { team: 'https://x.example/team', gone: 'nobody' },
        roles: { claim: 'realm.roles', scopes: { r: ['run'], s: ['run', 'assets'] } },
      }),
    );
    expect(read?.fields).toEqual({ labels: { team: 'blue' } });
    expect(read?.scopes).toEqual(['run', 'assets']);
    expect(
      readIdentity(claims, issuer({ roles: { claim: 'constructor.name', scopes: {} } }))?.scopes,
    ).toEqual([]);
  });

  it('bounds limits by claims, and claims by the configuration', () => {
    const limits = {
      rpm_cap: { claim: 'rpm', most: 100 },
      tpd_cap: { claim: 'tpd' },
      spending_day: { claim: 'usd', most: '2.50' },
      spending_month: { most: 10 },
    };
    const read = (claims: object) =>
      readIdentity({ sub: 'a', ...claims }, issuer({ limits }))?.fields;
    expect(read({})).toEqual({
      rpm_cap: 100,
      tpd_cap: null,
      spending_limit: { day: '2.50', month: '10.00' },
    });
    expect(read({ rpm: 7.9, tpd: '40', usd: 0.5 })).toEqual({
      rpm_cap: 7,
      tpd_cap: 40,
      spending_limit: { day: '0.50', month: '10.00' },
    });
    expect(read({ rpm: 5_000, usd: 99 })).toMatchObject({
      rpm_cap: 100,
      spending_limit: { day: '2.50' },
    });
  });

  it.each([
    { rpm: 0 },
    { rpm: -1 },
    { rpm: 'all' },
    { rpm: [1] },
    { rpm: true },
    { rpm: Number.NaN },
  ])('lifts no limit by %o', (claims) => {
    const asked = issuer({ limits: { rpm_cap: { claim: 'rpm' } } });
    expect(readIdentity({ sub: 'a', ...claims }, asked)).toBeUndefined();
  });

  it.each([{ team: ['blue'] }, { team: { name: 'blue' } }, { team: 'x'.repeat(513) }])(
    'leaves no label out for %o, by which a budget may hold its calls',
    (claims) => {
      const asked = issuer({ labels: { team: 'team' } });
      expect(readIdentity({ sub: 'a', ...claims }, asked)).toBeUndefined();
      expect(readIdentity({ sub: 'a', team: null }, asked)?.fields).toEqual({ labels: {} });
    },
  );

  it.each(['constructor', '__proto__', 'toString'])('gives no scope for the role %s', (role) => {
    const asked = issuer({ roles: { claim: 'roles', scopes: { r: ['run'] } } });
    expect(readIdentity({ sub: 'a', roles: [role] }, asked)?.scopes).toEqual([]);
  });

  it.each([
    {},
    { sub: '' },
    { sub: ' a' },
    { sub: 7 },
    { sub: 'a\u0000' },
    { sub: 'x'.repeat(181) },
  ])('names nobody by %o', (claims) => expect(readIdentity(claims, issuer({}))).toBeUndefined());

  it('needs one way to the organization', () => {
    expect(() => issuer({ organization_claim: 'org' })).toThrow('organization_claim');
    const asked = issuer({ organization: null, organization_claim: 'org' });
    expect(readIdentity({ sub: 'a' }, asked)).toBeUndefined();
    expect(readIdentity({ sub: 'a', org: 'o' }, asked)?.organization).toBe('o');
  });
});
