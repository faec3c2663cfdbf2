import type { JWTPayload } from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createKeyDirectory } from '../../../src/resources/kinds/key-directory.ts';
import { TokenLookup } from '../../../src/server/jwt/token-lookup.ts';
import { makeResources } from '../../resources/make-resources.ts';
import type { Resources } from '../../resources/make-resources.ts';
import { issuerOf, JWKS_URI, makeSigningKey, setOf } from './issuer-of-tests.ts';
import type { SigningKey } from './issuer-of-tests.ts';

const CHECKED_FOR = 600_000;
const TOLERANCE = 5_000;
const ROLES = { claim: 'roles', scopes: { r: ['run'], m: ['models'] } };

let own: SigningKey;
let other: SigningKey;
beforeAll(async () => {
  [own, other] = await Promise.all([makeSigningKey('a'), makeSigningKey('a')]);
});

describe('the principal of a token', () => {
  let resources: Resources;
  let lookup: TokenLookup;
  let reads: number;
  let fault: Error | undefined;
  let refresh: () => Promise<void>;
  beforeEach(async () => {
    resources = makeResources();
    resources.clock.advance(CHECKED_FOR);
    reads = 0;
    fault = undefined;
    await resources.call('POST organizations', { body: { name: 'team' } });
    const keys = createKeyDirectory(resources);
    refresh = () => keys.update('everything');
    lookup = new TokenLookup({
      ...resources,
      keys,
      catchUp: refresh,
      issuers: [issuerOf({ roles: ROLES })],
      onError: (error) => expect.fail(String(error)),
      read: async (url) => {
        reads++;
        expect(url).toBe(JWKS_URI);
        if (fault) throw fault;
        return setOf(own);
      },
    });
  });

  /** Seconds since epoch. */
  const inSeconds = (seconds: number): number =>
    Math.floor(resources.clock.now() / 1_000) + seconds;
  const token = (claims: JWTPayload = {}, by = own): Promise<string> =>
    by.sign({ sub: 'alice', roles: ['r'], exp: inSeconds(3_600), ...claims });

  it('is that of its subject, within the scopes of the token', async () => {
    expect(await lookup.find(await token())).toMatchObject({
      keyName: 'corp/alice',
      scopes: new Set(['run']),
      role: null,
    });
    expect(await lookup.find(await token({ roles: ['m', 'x'] }))).toMatchObject({
      keyName: 'corp/alice',
      scopes: new Set(['models']),
    });
    expect((await resources.call('GET keys')).body['data']).toHaveLength(1);
  });

  it('is remembered for ten minutes', async () => {
    const presented = await token();
    const found = await lookup.find(presented);
    resources.clock.advance(CHECKED_FOR - 1);
    expect(lookup.find(presented)).toBe(found);
    resources.clock.advance(1);
    const again = lookup.find(presented);
    expect(again).toBeInstanceOf(Promise);
    expect(await again).toEqual(found);
  });

  it('is checked once for all who bring the token at once', async () => {
    const presented = await token();
    const [one, two] = [lookup.find(presented), lookup.find(presented)];
    expect(one).toBe(two);
    expect(await one).toBe(await two);
    expect(reads).toBe(1);
  });

  it('changes with the key of its subject', async () => {
    const presented = await token();
    expect(await lookup.find(presented)).toMatchObject({ rpmCap: null });
    const [{ id }] = (await resources.call('GET keys')).body['data'];
    await resources.call(`PATCH keys/${id}`, { body: { rpm_cap: 7 } });
    await refresh();
    expect(lookup.find(presented)).toMatchObject({ rpmCap: 7, scopes: new Set(['run']) });
    await resources.call(`POST keys/${id}/revoke`);
    await refresh();
    expect(lookup.find(presented)).toBe('revoked');
  });

  it('is bounded by the role of that key', async () => {
    const presented = await token();
    await lookup.find(presented);
    const [{ id }] = (await resources.call('GET keys')).body['data'];
    await resources.call(`PATCH keys/${id}`, { body: { role: 'billing' } });
    await refresh();
    const bounded = { role: 'billing', scopes: new Set(['run']) };
    expect(lookup.find(presented)).toMatchObject(bounded);
    expect(await lookup.find(await token({ jti: 'another' }))).toMatchObject(bounded);
  });

  it('has the scopes of the token, so that none can be set on its key', async () => {
    await lookup.find(await token());
    const [{ id, scopes }] = (await resources.call('GET keys')).body['data'];
    const patch = (body: object) => resources.call(`PATCH keys/${id}`, { body });
    expect(await patch({ scopes: ['run'] })).toMatchObject({
      status: 400,
      body: { param: 'scopes', message: expect.stringContaining('server.jwt.issuers.corp.roles') },
    });
    expect(await patch({ scopes, rpm_cap: 7 })).toMatchObject({ status: 200 });
  });

  it('is over five seconds after the token expired, remembered or not', async () => {
    const presented = await token({ exp: inSeconds(60) });
    const unseen = await token({ exp: inSeconds(60), jti: 'another' });
    const justSeen = await token({ exp: inSeconds(60), jti: 'a third' });
    await lookup.find(presented);
    resources.clock.advance(60_000 + TOLERANCE - 1);
    expect(lookup.find(presented)).toMatchObject({ keyName: 'corp/alice' });
    expect(await lookup.find(justSeen)).toMatchObject({ keyName: 'corp/alice' });
    resources.clock.advance(1);
    expect(lookup.find(presented)).toBe('expired');
    expect(await lookup.find(unseen)).toBe('expired');
  });

  it('is not yet more than five seconds before the token begins to count', async () => {
    expect(await lookup.find(await token({ nbf: inSeconds(5) }))).toBeTypeOf('object');
    expect(await lookup.find(await token({ nbf: inSeconds(6) }))).toBe('unknown');
  });

  it.each<[string, JWTPayload]>([
    ['another issuer', { iss: 'https://other.example' }],
    ['no issuer', { iss: undefined }],
    ['another audience', { aud: 'other' }],
    ['no end', { exp: undefined }],
    ['no subject', { sub: undefined }],
  ])('is unknown for a token with %s', async (_what, claims) => {
    expect(await lookup.find(await token(claims))).toBe('unknown');
    expect((await resources.call('GET keys')).body['data']).toEqual([]);
  });

  it('is unknown for what another key signed, and for what is no token', async () => {
    expect(await lookup.find(await token({}, other))).toBe('unknown');
    expect(await lookup.find('eyJ.a.b')).toBe('unknown');
    const [head, body] = (await token()).split('.');
    expect(await lookup.find(`${head}.${body}.`)).toBe('unknown');
  });

  it('is unknown where the organization is not there, which may come', async () => {
    const presented = await token();
    await resources.call('PATCH organizations/team', { body: { name: 'moved' } });
    expect(await lookup.find(presented)).toBe('unknown');
    await resources.call('PATCH organizations/moved', { body: { name: 'team' } });
    expect(await lookup.find(presented)).toBeTypeOf('object');
  });

  it('cannot be told while the keys of the issuer cannot be read', async () => {
    const presented = await token();
    fault = new Error('away');
    await expect(lookup.find(presented)).rejects.toThrow('away');
    fault = undefined;
    expect(await lookup.find(presented)).toBeTypeOf('object');
    expect(reads).toBe(2);
  });
});
