import { createHash } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { JWK, JWTPayload } from 'jose';
import { MockAgent } from 'undici';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ssoSettings } from '../../../src/config/schema/sso-schema.ts';
import { createOpenIdProvider } from '../../../src/server/sso/provider.ts';
import type { OpenIdProvider } from '../../../src/server/sso/provider.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';

const ISSUER = 'https://id.test';
const BACK = 'https://gateway.test/console/sso/callback';
const METADATA = '/.well-known/openid-configuration';
const FRESH = 10 * 60_000;
const KIB_256 = 256 * 1024;
/** In the year 2100. */
const LATER = 4_102_444_800;

interface Answer {
  readonly status?: number;
  readonly body: object | string;
  readonly location?: string;
}
interface Asked {
  readonly path: string;
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

let privateKey: CryptoKey;
let otherKey: CryptoKey;
let jwk: JWK;
beforeAll(async () => {
  const [own, other] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  privateKey = own.privateKey;
  otherKey = other.privateKey;
  jwk = { ...(await exportJWK(own.publicKey)), kid: 'a', use: 'sig', alg: 'ES256' };
});

const metadata = (more: object = {}) => ({
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  device_authorization_endpoint: `${ISSUER}/device`,
  jwks_uri: `${ISSUER}/keys`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
  ...more,
});

const idToken = (claims: JWTPayload = {}, key = privateKey): Promise<string> =>
  new SignJWT({ iss: ISSUER, aud: 'gateway', sub: 's1', iat: 1, exp: LATER, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'a' })
    .sign(key);
const tokens = (id_token?: string): Answer => ({
  body: { access_token: 'a', token_type: 'bearer', ...(id_token && { id_token }) },
});
const failing = (error: string): Answer => ({ status: 400, body: { error } });

describe('the OpenID provider', () => {
  let clock: FakeClock;
  let agent: MockAgent;
  let asked: Asked[];
  let answers: Record<string, Answer>;
  beforeEach(() => {
    clock = createFakeClock();
    clock.advance(FRESH);
    asked = [];
    answers = { [METADATA]: { body: metadata() }, '/keys': { body: { keys: [jwk] } } };
    agent = new MockAgent();
    agent.disableNetConnect();
  });
  afterEach(() => agent.close());

  function open(more: object = {}, clientSecret?: string): OpenIdProvider {
    const roles = [{ group: 'dev', organization: 'home', role: 'viewer' }];
    const given = { issuer: ISSUER, client_id: 'gateway', roles, ...more };
    const settings = { ...ssoSettings.parse(given), clientSecret };
    const everything = { path: () => true, method: () => true };
    const answer = ({
      path,
      body,
      headers,
    }: {
      path: string;
      body?: unknown;
      headers?: unknown;
    }) => {
      const { authorization } = (headers ?? {}) as { authorization?: string };
      asked.push({ path, form: new URLSearchParams(String(body ?? '')), authorization });
      const { status = 200, body: told, location } = answers[path] ?? { status: 404, body: '' };
      const isText = typeof told === 'string';
      return {
        statusCode: status,
        data: isText ? told : JSON.stringify(told),
        responseOptions: {
          headers: { 'content-type': 'application/json', ...(location && { location }) },
        },
      };
    };
    agent.get(new URL(settings.issuer).origin).intercept(everything).reply(answer).persist();
    const guard = {
      check: async (url: string) => new URL(url),
      addresses: async () => [],
      dispatcher: async () => agent,
      close: async () => undefined,
    };
    return createOpenIdProvider({ settings, guard, clock });
  }
  const asksOf = (path: string): Asked[] => asked.filter((one) => one.path === path);

  describe('lets a device sign in', () => {
    const GRANT = {
      device_code: 'd',
      user_code: 'u',
      verification_uri: `${ISSUER}/enter`,
      expires_in: 300,
    };

    it('with a grant that is asked of it with the scopes of the settings', async () => {
      answers['/device'] = {
        body: { ...GRANT, interval: 9, verification_uri_complete: `${ISSUER}/enter?c=u` },
      };
      const provider = open({ scopes: ['email', 'openid', 'teams'] });
      expect(await provider.startDevice()).toEqual({
        ...GRANT,
        interval: 9,
        verification_uri_complete: `${ISSUER}/enter?c=u`,
      });
      const [ask] = asksOf('/device');
      expect(Object.fromEntries(ask?.form ?? [])).toEqual({
        client_id: 'gateway',
        scope: 'openid email teams',
      });
      expect(ask?.authorization).toBeUndefined();
    });

    it('every five seconds where the grant says nothing else', async () => {
      answers['/device'] = { body: GRANT };
      expect(await open().startDevice()).toEqual({
        ...GRANT,
        interval: 5,
        verification_uri_complete: null,
      });
    });

    it('by its code, with what the ID token says', async () => {
      answers['/token'] = tokens(await idToken({ groups: ['dev'] }));
      expect(await open().pollDevice('d')).toMatchObject({ sub: 's1', groups: ['dev'] });
      expect(Object.fromEntries(asksOf('/token')[0]?.form ?? [])).toEqual({
        client_id: 'gateway',
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: 'd',
      });
    });

    it.each(['authorization_pending', 'slow_down'])('later where it says %s', async (error) => {
      answers['/token'] = failing(error);
      expect(await open().pollDevice('d')).toBeUndefined();
    });

    it.each(['access_denied', 'expired_token', 'invalid_grant'])(
      'no more after %s',
      async (error) => {
        answers['/token'] = failing(error);
        await expect(open().pollDevice('d')).rejects.toMatchObject({
          code: 'sso_refused',
          message: `the identity provider refused the sign-in (${error}); begin again`,
        });
      },
    );

    it('with a secret where the settings have one', async () => {
      answers['/device'] = { body: GRANT };
      await open({}, 'sesame').startDevice();
      const [{ authorization } = { authorization: undefined }] = asksOf('/device');
      expect(authorization).toBe(`Basic ${Buffer.from('gateway:sesame').toString('base64')}`);
    });
  });

  describe('does not answer as it should', () => {
    const poll = async (): Promise<unknown> =>
      open()
        .pollDevice('d')
        .catch((error: unknown) => error);
    const message = (word: string) =>
      `the identity provider ${ISSUER} does not answer as it should${word}; try again, or look at server.sso and at the provider`;

    it.each([
      ['invalid_client', ' (invalid_client)'],
      ['w', ' (w)'],
      ['w'.repeat(64), ` (${'w'.repeat(64)})`],
      ['w'.repeat(65), ''],
      ['<b>no</b>', ''],
    ])('with the error %s', async (error, word) => {
      answers['/token'] = failing(error);
      expect(await poll()).toMatchObject({ code: 'sso_unavailable', message: message(word) });
    });

    it('without an ID token', async () => {
      answers['/token'] = tokens();
      expect(await poll()).toMatchObject({
        code: 'sso_unavailable',
        message: expect.stringContaining('sent no ID token'),
      });
    });

    it.each<[string, JWTPayload]>([
      ['another issuer', { iss: 'https://other.test' }],
      ['another audience', { aud: 'other' }],
      ['an end that is past', { exp: 2 }],
    ])('with an ID token of %s', async (_what, claims) => {
      answers['/token'] = tokens(await idToken(claims));
      expect(await poll()).toMatchObject({ code: 'sso_unavailable' });
    });

    it('with an ID token that another key signed', async () => {
      answers['/token'] = tokens(await idToken({}, otherKey));
      expect(await poll()).toMatchObject({ code: 'sso_unavailable' });
    });

    it('with metadata of another', async () => {
      answers[METADATA] = { body: metadata({ issuer: 'https://other.test' }) };
      expect(await poll()).toMatchObject({ code: 'sso_unavailable' });
    });

    it('by sending elsewhere, where nobody looks', async () => {
      answers['/token'] = { status: 307, body: '', location: `${ISSUER}/other` };
      answers['/other'] = tokens(await idToken());
      expect(await poll()).toMatchObject({ code: 'sso_unavailable' });
      expect(asksOf('/other')).toEqual([]);
    });

    it('with more than 256 KiB', async () => {
      const text = JSON.stringify(metadata());
      answers['/token'] = tokens(await idToken());
      answers[METADATA] = { body: text.padEnd(KIB_256, ' ') };
      expect(await poll()).toMatchObject({ sub: 's1' });
      answers[METADATA] = { body: text.padEnd(KIB_256 + 1, ' ') };
      expect(await poll()).toMatchObject({ code: 'sso_unavailable' });
    });
  });

  describe('takes a browser', () => {
    it('to its page, with a secret that the way back proves', async () => {
      const { href, ...departure } = await open().depart(BACK);
      const url = new URL(href);
      expect(url.origin + url.pathname).toBe(`${ISSUER}/authorize`);
      expect(Object.fromEntries(url.searchParams)).toEqual({
        client_id: 'gateway',
        response_type: 'code',
        redirect_uri: BACK,
        scope: 'openid email groups',
        state: departure.state,
        nonce: departure.nonce,
        code_challenge: createHash('sha256').update(departure.verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      expect(departure.redirectUri).toBe(BACK);
      const other = await open().depart(BACK);
      expect(other.state).not.toBe(departure.state);
      expect(other.nonce).not.toBe(departure.nonce);
      expect(other.verifier).not.toBe(departure.verifier);
    });

    it('back with what the ID token says', async () => {
      const provider = open();
      const { href: _href, ...departure } = await provider.depart(BACK);
      const { state, nonce, verifier } = departure;
      answers['/token'] = tokens(await idToken({ nonce }));
      expect(await provider.arrive(`?code=c&state=${state}`, departure)).toMatchObject({
        sub: 's1',
      });
      expect(Object.fromEntries(asksOf('/token')[0]?.form ?? [])).toEqual({
        client_id: 'gateway',
        grant_type: 'authorization_code',
        code: 'c',
        code_verifier: verifier,
        redirect_uri: BACK,
      });
    });

    it.each([
      ['another state', 'other', undefined],
      ['another nonce', undefined, 'other'],
    ])('not back with %s', async (_what, state, nonce) => {
      const provider = open();
      const { href: _href, ...departure } = await provider.depart(BACK);
      answers['/token'] = tokens(await idToken({ nonce: nonce ?? departure.nonce }));
      const search = `?code=c&state=${state ?? departure.state}`;
      await expect(provider.arrive(search, departure)).rejects.toMatchObject({
        code: 'sso_unavailable',
      });
    });

    it.each(['access_denied', 'login_required', 'consent_required', 'interaction_required'])(
      'back with the refusal %s',
      async (error) => {
        const provider = open();
        const { href: _href, ...departure } = await provider.depart(BACK);
        const search = `?error=${error}&state=${departure.state}`;
        await expect(provider.arrive(search, departure)).rejects.toMatchObject({
          code: 'sso_refused',
        });
      },
    );
  });

  describe('is asked for its metadata', () => {
    it('once in ten minutes', async () => {
      const provider = open();
      expect(asked).toEqual([]);
      await Promise.all([provider.depart(BACK), provider.depart(BACK)]);
      clock.advance(FRESH - 1);
      await provider.depart(BACK);
      expect(asksOf(METADATA)).toHaveLength(1);
      clock.advance(1);
      await provider.depart(BACK);
      expect(asksOf(METADATA)).toHaveLength(2);
    });

    it('again at once after a failure', async () => {
      const provider = open();
      answers[METADATA] = { status: 503, body: '' };
      await expect(provider.depart(BACK)).rejects.toMatchObject({ code: 'sso_unavailable' });
      answers[METADATA] = { body: metadata() };
      expect(await provider.depart(BACK)).toMatchObject({ redirectUri: BACK });
    });

    it('without TLS where it is on this machine', async () => {
      const issuer = 'http://localhost:8080';
      answers[METADATA] = {
        body: metadata({ issuer, authorization_endpoint: `${issuer}/authorize` }),
      };
      const { href } = await open({ issuer }).depart(BACK);
      expect(href).toMatch(/^http:\/\/localhost:8080\/authorize\?/);
    });
  });
});
