import { createHash, createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/core/time/clock.ts';
import { verifies } from '../../requirements.ts';
import { CHAT_PATH, chatBody } from '../../support/chat.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { AUDIENCE, startOidcIssuer } from '../../support/stage/oidc-issuer.ts';
import type { OidcIssuer } from '../../support/stage/oidc-issuer.ts';

const CLAIMS = {
  alice: { org: 'team', department: 'search', realm: { roles: ['caller'] }, rpm: 3 },
  bob: { org: 'team', department: 'ads', realm: { roles: ['caller'] } },
  guest: { org: 'team', department: 'ads', realm: { roles: ['visitor'] } },
  stranger: { org: 'nobody', realm: { roles: ['caller'] } },
};
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const MODELS = {
  providers: [{ name: 'lab', type: 'mock' }],
  models: [{ name: 'lab/one', routes: [{ provider: 'lab', upstream_model: 'one' }] }],
  organizations: [{ name: 'team' }],
};

function settings(issuer: OidcIssuer): object {
  return {
    issuer: issuer.url,
    audience: AUDIENCE,
    organization_claim: 'org',
    labels: { team: 'department' },
    roles: { claim: 'realm.roles', scopes: { caller: ['inference', 'models'] } },
    limits: { rpm_cap: { claim: 'rpm', most: 600 } },
  };
}

async function open(options: { clock?: Clock } = {}) {
  const issuer = await startOidcIssuer(CLAIMS);
  closers.push(() => issuer.stop());
  const gateway = await startGateway(
    {
      ...MODELS,
      server: {
        usage: { labels: ['team'] },
        jwt: { issuers: { corp: settings(issuer) } },
      },
    },
    options,
  );
  closers.push(() => gateway.stop());
  return { issuer, gateway };
}

const chat = (gateway: TestGateway, key: string) =>
  gateway.call('POST', CHAT_PATH, { key, body: chatBody('lab/one') });

describe('a token of an issuer', () => {
  it(
    verifies(
      'jwt.inference',
      'is a credential of its subject with organization, labels and limits, and refused as a key is',
    ),
    async () => {
      const { issuer, gateway } = await open();
      const alice = await issuer.token('alice');
      expect((await chat(gateway, alice)).status).toBe(200);

      const keys = await gateway.admin('GET', '/admin/v1/keys');
      const key = keys.body.data.find(({ name }: { name: string }) => name === 'corp/alice');
      const organizations = await gateway.admin('GET', '/admin/v1/organizations');
      const team = organizations.body.data.find(({ name }: { name: string }) => name === 'team');
      expect(key).toMatchObject({
        organization: team.id,
        labels: { team: 'search' },
        rpm_cap: 3,
        scopes: ['inference', 'models'],
      });
      const report = '/admin/v1/usage?group_by=label:team';
      await eventually(async () => {
        const { data } = (await gateway.admin('GET', report)).body;
        return JSON.stringify(data).includes('search');
      });

      // The carriers of every family, and no others.
      const body = { model: 'lab/one', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
      const carried = await fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': alice, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(carried.status).toBe(200);
      expect((await chat(gateway, alice)).status).toBe(200);
      const full = await chat(gateway, alice);
      expect([full.status, full.body.error]).toEqual([429, 'API key rate limit exceeded']);
      const elsewhere = await fetch(`${gateway.url}${CHAT_PATH}?access_token=${alice}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(chatBody('lab/one')),
      });
      expect(elsewhere.status).toBe(401);
      const outside = { key: await issuer.token('bob') };
      expect((await gateway.call('GET', '/admin/v1/models', outside)).status).toBe(403);

      const refused = async (token: string) => {
        const { status, body: answer } = await chat(gateway, token);
        return [status, answer.error];
      };
      const now = Math.floor(Date.now() / 1000);
      const bob = { sub: 'bob', ...CLAIMS.bob };
      expect(await refused(await issuer.sign({ ...bob, exp: now - 60 }))).toEqual([
        401,
        'API key has expired',
      ]);
      const invalid = [401, 'invalid API key'];
      const exp = now + 60;
      expect(await refused(await issuer.token('bob', 'https://other.example'))).toEqual(invalid);
      expect(await refused(await issuer.sign({ ...bob, exp, iss: 'https://x.example' }))).toEqual(
        invalid,
      );
      expect(await refused(await issuer.sign(bob))).toEqual(invalid);
      expect(await refused(await issuer.sign({ ...bob, exp }, { kid: 'never' }))).toEqual(invalid);
      expect(await refused(unsigned({ ...bob, exp, iss: issuer.url, aud: AUDIENCE }))).toEqual(
        invalid,
      );
      expect(await refused(`${alice.slice(0, -4)}AAAA`)).toEqual(invalid);
      expect(await refused(byPublicKey(await publicKey(issuer), { ...bob, exp }))).toEqual(invalid);
      expect(await refused(`eyJ${'a'.repeat(9_000)}.e30.x`)).toEqual(invalid);
      expect(await refused(await issuer.token('stranger'))).toEqual(invalid);
      expect(await refused(await issuer.sign({ ...bob, exp, rpm: 'many' }))).toEqual(invalid);
      const guest = await chat(gateway, await issuer.token('guest'));
      expect([guest.status, guest.body.error]).toEqual([403, 'insufficient_scope']);
    },
  );

  it(verifies('jwt.inference', 'is read with a new signing key without a restart'), async () => {
    const clock = createFakeClock(Date.now());
    const { issuer, gateway } = await open({ clock });
    expect((await chat(gateway, await issuer.token('bob'))).status).toBe(200);
    await issuer.rotate();
    // Unknown keys make it ask twice a minute at most.
    for (let guess = 0; guess < 5; guess++)
      expect((await chat(gateway, await issuer.token('bob'))).status).toBe(401);
    expect(issuer.reads).toBe(1);
    clock.advance(31_000);
    expect((await chat(gateway, await issuer.token('bob'))).status).toBe(200);
    expect(issuer.reads).toBe(2);
  });

  it('is checked while its issuer does not answer', async () => {
    const { issuer, gateway } = await open();
    expect((await chat(gateway, await issuer.token('bob'))).status).toBe(200);
    expect(issuer.reads).toBe(1);
    await issuer.stop();
    const now = Math.floor(Date.now() / 1000);
    const other = await issuer.sign({ sub: 'bob', ...CLAIMS.bob, exp: now + 60 });
    expect((await chat(gateway, other)).status).toBe(200);
  });

  it(verifies('jwt.inference', 'is refused once its subject is revoked'), async () => {
    const { issuer, gateway } = await open();
    const bob = await issuer.token('bob');
    expect((await chat(gateway, bob)).status).toBe(200);
    const keys = await gateway.admin('GET', '/admin/v1/keys');
    const key = keys.body.data.find(({ name }: { name: string }) => name === 'corp/bob');
    await gateway.admin('POST', `/admin/v1/keys/${key.id}/revoke`);
    for (const token of [bob, await issuer.token('bob')]) {
      const { status, body } = await chat(gateway, token);
      expect([status, body.error]).toEqual([401, 'API key has been revoked']);
    }
  });

  it('signs nobody in to the console', async () => {
    const { issuer, gateway } = await open();
    const answer = await fetch(`${gateway.url}/console/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ key: await issuer.token('bob') }),
    });
    expect(answer.status).toBe(401);
  });
});

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function unsigned(claims: object): string {
  return `${encode({ alg: 'none' })}.${encode(claims)}.`;
}

/** Signed by what everybody can read, as if that were a shared secret. */
function byPublicKey(secret: string, claims: object): string {
  const text = `${encode({ alg: 'HS256' })}.${encode(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

async function publicKey({ url }: OidcIssuer): Promise<string> {
  const answer = await fetch(`${url}/jwks`);
  return createHash('sha256')
    .update(await answer.text())
    .digest('hex');
}
