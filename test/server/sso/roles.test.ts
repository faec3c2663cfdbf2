import { describe, expect, it } from 'vitest';
import {
  endedWithMapping,
  mappingFor,
  MAPPING_LABEL,
  markOf,
  toPerson,
} from '../../../src/server/sso/roles.ts';
import type { Mapping } from '../../../src/server/sso/roles.ts';
import type { SsoSettings } from '../../../src/server/sso/provider.ts';
import type { KeyFound } from '../../../src/surfaces/gate.ts';
import type { Principal } from '../../../src/usage/principal.ts';

const role = (group: string, organization: string): Mapping =>
  ({ group, organization, role: null, scopes: null }) as unknown as Mapping;

const SETTINGS = {
  issuer: 'https://id.test',
  client_id: 'gateway',
  groups_claim: 'groups',
  roles: [role('dev', 'one'), role('dev', 'two'), role('ops', 'two')],
} as unknown as SsoSettings;

const person = (groups: string[]) => ({ subject: 's', name: 'ada', groups });

describe('a person whom the provider tells of', () => {
  it('is named by the mail address', () => {
    const claims = { sub: 's1', email: 'ada@a.test', groups: ['dev', 7, 'ops'] };
    const found = { subject: 's1', name: 'ada@a.test', groups: ['dev', 'ops'] };
    expect(toPerson(claims, SETTINGS)).toEqual(found);
    expect(toPerson({ ...claims, email_verified: true }, SETTINGS)).toEqual(found);
  });

  it.each([
    [{ email: 'ada@a.test', email_verified: false }],
    [{ email: 'ada' }],
    [{ email: 'a da@a.test' }],
    [{ email: 'ada@a@test' }],
    [{ email: 7 }],
    [{}],
  ])('is named by the subject where the claims are %j', (claims) => {
    expect(toPerson({ sub: 's1', ...claims }, SETTINGS).name).toBe('s1');
  });

  it.each([undefined, 7, '', 's'.repeat(256)])('is nobody with the subject %s', (sub) => {
    expect(() => toPerson({ sub }, SETTINGS)).toThrow(
      expect.objectContaining({ code: 'sso_unavailable' }),
    );
  });

  it('keeps a subject of 255 characters, and a name of 128 that can be printed', () => {
    const sub = 's'.repeat(255);
    expect(toPerson({ sub }, SETTINGS)).toMatchObject({
      subject: sub,
      name: `${'s'.repeat(127)}…`,
    });
    expect(toPerson({ sub: 's'.repeat(128) }, SETTINGS).name).toBe('s'.repeat(128));
    expect(toPerson({ sub: 'a\nb\u202ec' }, SETTINGS).name).toBe('a?b?c');
  });

  it('may have one group, none, or 2,000', () => {
    expect(toPerson({ sub: 's', groups: 'dev' }, SETTINGS).groups).toEqual(['dev']);
    expect(toPerson({ sub: 's' }, SETTINGS).groups).toEqual([]);
    const groups = Array.from({ length: 2_001 }, (_, index) => `g${index}`);
    expect(toPerson({ sub: 's', groups }, SETTINGS).groups.length).toBe(2_000);
  });
});

describe('the mapping of a person', () => {
  it('is the first that fits', () => {
    expect(mappingFor(person(['ops', 'dev']), SETTINGS)).toBe(SETTINGS.roles[0]);
    expect(mappingFor(person(['ops']), SETTINGS)).toBe(SETTINGS.roles[2]);
  });

  it('is of the organization that was asked for', () => {
    expect(mappingFor(person(['dev']), SETTINGS, 'two')).toBe(SETTINGS.roles[1]);
    expect(() => mappingFor(person(['dev']), SETTINGS, 'three')).toThrow(
      'none of it is mapped of organization three;',
    );
  });

  it('is refused with the groups that were seen', () => {
    expect(() => mappingFor(person([]), SETTINGS)).toThrow(
      expect.objectContaining({
        code: 'sso_refused',
        message:
          'ada has no role here: the claim groups names no group, and none of it is mapped; ' +
          'let the operator map a group under server.sso.roles',
      }),
    );
    const ten = Array.from({ length: 10 }, (_, index) => `g${index}`);
    expect(() => mappingFor(person(ten), SETTINGS)).toThrow(`names ${ten.join(', ')}, and`);
    expect(() => mappingFor(person([...ten, 'x', 'y']), SETTINGS)).toThrow('g9 and 2 more, and');
    expect(() => mappingFor(person(['g'.repeat(65)]), SETTINGS)).toThrow(`${'g'.repeat(63)}…, and`);
  });
});

describe('the mark of a mapping', () => {
  const mapping = role('dev', 'one');

  it('is short and stays', () => {
    expect(markOf(SETTINGS, mapping)).toMatch(/^[\w-]{22}$/);
    expect(markOf({ ...SETTINGS }, { ...mapping })).toBe(markOf(SETTINGS, mapping));
  });

  it.each([
    [{ issuer: 'https://b.test' }, {}],
    [{ client_id: 'b' }, {}],
    [{}, { group: 'b' }],
    [{}, { organization: 'b' }],
    [{}, { role: 'viewer' as const }],
    [{}, { scopes: ['models'] as unknown as Mapping['scopes'] }],
  ])('is another with %j and %j', (provider, changes) => {
    const other = markOf({ ...SETTINGS, ...provider }, { ...mapping, ...changes });
    expect(other).not.toBe(markOf(SETTINGS, mapping));
  });
});

describe('the key of a person', () => {
  const labelled = (labels?: Record<string, string>) => ({ keyId: 'key_1', labels }) as Principal;
  const mapped = labelled({ [MAPPING_LABEL]: markOf(SETTINGS, role('ops', 'two')) });
  const finding = (found: KeyFound, settings: SsoSettings | undefined = SETTINGS) =>
    endedWithMapping(() => found, settings)('sk');

  it('is found while its mapping is there', () => {
    expect(finding(mapped)).toBe(mapped);
  });

  it('is revoked when its mapping is gone, or sign-in is', async () => {
    const roles = SETTINGS.roles.slice(0, 2);
    expect(finding(mapped, { ...SETTINGS, roles })).toBe('revoked');
    expect(endedWithMapping(() => mapped, undefined)('sk')).toBe('revoked');
    const later = endedWithMapping(async () => mapped, undefined);
    expect(await later('sk')).toBe('revoked');
  });

  it('leaves keys that are no person’s as they are', async () => {
    const plain = labelled({ team: 'a' });
    const bare = labelled();
    expect(finding(plain)).toBe(plain);
    expect(finding(bare)).toBe(bare);
    expect(finding('expired')).toBe('expired');
    expect(await endedWithMapping(async () => 'unknown' as const, SETTINGS)('sk')).toBe('unknown');
  });
});
