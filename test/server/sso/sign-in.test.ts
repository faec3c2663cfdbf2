import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/audit/audit-entry.ts';
import { ENTRIES } from '../../../src/audit/audit-rows.ts';
import { ssoSettings } from '../../../src/config/schema/sso-schema.ts';
import type { SsoSettings } from '../../../src/server/sso/provider.ts';
import { MAPPING_LABEL, markOf, SUBJECT_LABEL } from '../../../src/server/sso/roles.ts';
import { signInPerson } from '../../../src/server/sso/sign-in.ts';
import type { Arrival } from '../../../src/server/sso/sign-in.ts';
import type { HttpExchange } from '../../../src/surfaces/http-exchange.ts';
import { makeResources } from '../../resources/make-resources.ts';
import type { Resources } from '../../resources/make-resources.ts';

const HOUR = 3_600_000;
const CLAIMS = { sub: 's1', email: 'ada@a.test', groups: ['dev'] };
const EXCHANGE = {
  id: 'req_1',
  request: { socket: { remoteAddress: '192.0.2.1' }, headers: {} } as unknown as IncomingMessage,
} as HttpExchange;
const PERSON = { kind: 'person', id: 's1', name: 'ada@a.test' };

function settingsOf(more: object = {}): SsoSettings {
  const roles = [
    { group: 'dev', organization: 'one', role: 'viewer', scopes: ['models'] },
    { group: 'dev', organization: 'two', role: 'operator' },
    { group: 'ops', organization: 'gone', role: 'viewer' },
  ];
  const given = { issuer: 'https://id.test', client_id: 'gateway', lifetime: '2h', roles, ...more };
  return { ...ssoSettings.parse(given), clientSecret: undefined };
}

describe('a person who signs in', () => {
  let resources: Resources;
  let organizations: Record<string, string>;
  beforeEach(async () => {
    resources = makeResources();
    organizations = {};
    for (const name of ['one', 'two']) {
      const { body } = await resources.call('POST organizations', { body: { name } });
      organizations[name] = body['id'];
    }
  });

  const signIn = (claims: object = CLAIMS, more: Partial<Arrival> = {}, settings = settingsOf()) =>
    signInPerson(
      { ...claims },
      { exchange: EXCHANGE, by: 'sso', ...more },
      { ...resources, settings },
    );
  const keys = async () => (await resources.call('GET keys')).body['data'];
  /** Entries of what is no organization. */
  const entries = async (): Promise<AuditEntry[]> =>
    (await resources.store.list<AuditEntry>({ prefix: ENTRIES, limit: 100 }))
      .map(({ value }) => value)
      .filter(({ object }) => object.kind !== 'organization');

  it('gets a key with the role and the scopes of the mapping, for as long as a sign-in lasts', async () => {
    const settings = settingsOf();
    const [mapping] = settings.roles;
    const key = await signIn();
    const expiresAt = new Date(resources.clock.now() + 2 * HOUR).toISOString();
    expect(key).toEqual({
      person: { subject: 's1', name: 'ada@a.test', groups: ['dev'] },
      mapping,
      id: expect.stringMatching(/^key_/),
      name: expect.stringMatching(/^ada@a\.test [\da-f]{8}$/),
      organizationId: organizations['one'],
      value: expect.stringMatching(/^sk-[\da-f]{64}$/),
      expiresAt,
    });
    expect(await keys()).toMatchObject([
      {
        id: key.id,
        name: key.name,
        organization: organizations['one'],
        role: 'viewer',
        scopes: ['models'],
        expires_at: expiresAt,
        labels: { [MAPPING_LABEL]: markOf(settings, mapping!), [SUBJECT_LABEL]: 's1' },
      },
    ]);
  });

  it('gets another key each time', async () => {
    const [first, second] = [await signIn(), await signIn()];
    expect(second.id).not.toBe(first.id);
    expect(second.name).not.toBe(first.name);
  });

  it('may name the organization to act in', async () => {
    const key = await signIn(CLAIMS, { organization: 'two' });
    expect(key).toMatchObject({
      organizationId: organizations['two'],
      mapping: { role: 'operator', scopes: null },
    });
  });

  it('is noted as who made the key and as who signed in', async () => {
    const key = await signIn(CLAIMS, { by: 'sso_device' });
    const noted = await entries();
    expect(noted.map(({ action }) => action)).toEqual(['create', 'sign_in']);
    for (const entry of noted)
      expect(entry).toMatchObject({
        actor: PERSON,
        from: { address: '192.0.2.1', client: null },
        request_id: 'req_1',
        object: { id: key.id },
        organization: organizations['one'],
      });
    expect(noted[1]).toMatchObject({
      object: { kind: 'api_key', id: key.id, name: key.name },
      changes: [
        { path: 'by', old: null, new: 'sso_device' },
        { path: 'group', old: null, new: 'dev' },
        { path: 'role', old: null, new: 'viewer' },
      ],
    });
    expect(JSON.stringify(noted)).not.toContain(key.value);
  });

  it.each([
    ['of no mapped group', { ...CLAIMS, groups: ['hr'] }, 'names hr, and none of it is mapped'],
    ['of an organization that is not there', { ...CLAIMS, groups: ['ops'] }, 'organization gone'],
  ])('%s is refused, which is noted', async (_what, claims, message) => {
    const refusal = { code: 'sso_refused', message: expect.stringContaining(message) };
    await expect(signIn(claims)).rejects.toMatchObject(refusal);
    expect(await keys()).toEqual([]);
    const noted = await entries();
    expect(noted).toHaveLength(1);
    expect(noted[0]).toMatchObject({
      action: 'sign_in_refused',
      actor: PERSON,
      object: { kind: 'api_key', id: 'req_1', name: null },
      organization: null,
      changes: [
        { path: 'by', old: null, new: 'sso' },
        { path: 'reason', old: null, new: expect.stringContaining(message) },
      ],
    });
  });

  it('is told how to make the organization that is not there', async () => {
    await expect(signIn({ ...CLAIMS, groups: ['ops'] })).rejects.toThrow(
      'make it: gateway organizations create gone',
    );
  });

  it('is nobody without a subject, of which there is nothing to note', async () => {
    await expect(signIn({ groups: ['dev'] })).rejects.toMatchObject({ code: 'sso_unavailable' });
    expect(await entries()).toEqual([]);
  });

  it('gets no key where none can be made, which is no refusal', async () => {
    const settings = settingsOf({ lifetime: '1m' });
    const broken = { ...settings, roles: [{ ...settings.roles[0]!, role: 'king' }] };
    await expect(signIn(CLAIMS, {}, broken as unknown as SsoSettings)).rejects.toMatchObject({
      name: 'GatewayError',
    });
    expect(await entries()).toEqual([]);
  });
});
