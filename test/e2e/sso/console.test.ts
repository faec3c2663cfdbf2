import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { signIn } from '../console/console-client.ts';
import { CLIENT_ID, CLIENT_SECRET, signInAs, startIdentityProvider } from './identity-provider.ts';
import type { IdentityProvider } from './identity-provider.ts';

describe('sign-in of a person to the console', { timeout: 120_000 }, () => {
  let provider: IdentityProvider;
  let gateway: TestGateway;

  beforeAll(async () => {
    provider = await startIdentityProvider({ ada: ['leads'], eve: ['guests'] });
    const sso = {
      issuer: provider.issuer,
      client_id: CLIENT_ID,
      client_secret: '${secret:env:SSO_SECRET}',
      roles: [{ group: 'leads', organization: 'team-a', role: 'operator' }],
    };
    const config = { server: { sso, workers: 2 }, organizations: [{ name: 'team-a' }] };
    gateway = await startGateway(config, { binary: true, env: { SSO_SECRET: CLIENT_SECRET } });
  }, 120_000);
  afterAll(async () => {
    await gateway?.stop();
    await provider?.stop();
  });

  /** Begins in a browser; gives the address at the provider and the cookie of the way back. */
  async function leave(): Promise<{ href: string; cookie: string }> {
    const answer = await fetch(`${gateway.url}/console/sso`, { redirect: 'manual' });
    expect(answer.status).toBe(303);
    const [line = ''] = answer.headers.getSetCookie();
    expect(line).toMatch(/; HttpOnly; SameSite=Lax/);
    return { href: answer.headers.get('location') ?? '', cookie: line.split(';')[0] ?? '' };
  }

  async function comeBack(href: string, cookie: string) {
    const answer = await fetch(href, { redirect: 'manual', headers: { cookie } });
    return {
      status: answer.status,
      location: answer.headers.get('location') ?? '',
      text: await answer.text(),
    };
  }

  it('opens a session with the role of the group, by state, nonce and PKCE', async () => {
    const { href, cookie } = await leave();
    const asked = new URL(href).searchParams;
    expect(asked.get('redirect_uri')).toBe(`${gateway.url}/console/sso/callback`);
    expect(asked.get('code_challenge_method')).toBe('S256');
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked.get(name)).toBeTruthy();
    const back = await comeBack(await signInAs('ada', href), cookie);
    expect(back.status, back.text).toBe(303);
    const [, link = ''] = /^\/console\/#link=(\S+)$/.exec(back.location) ?? [];
    const page = await signIn(gateway, { link });
    expect(page.signedIn).toMatchObject({
      status: 201,
      body: { key: { role: 'operator', scopes: null }, organization: { name: 'team-a' } },
    });
    const { body } = await page.call('GET', '/v1/account/key');
    expect(body.name).toMatch(/^ada@example\.com /);
    const audit = await gateway.admin('GET', '/admin/v1/audit?action=sign_in');
    expect(JSON.stringify(audit.body)).toContain('"kind":"person","id":"ada"');
  });

  it('refuses a way back that another browser began, and one that was used', async () => {
    const { href, cookie } = await leave();
    const callback = await signInAs('ada', href);
    const stranger = await comeBack(callback, '');
    expect(stranger.status).toBe(403);
    expect(stranger.text).toContain('did not begin in this browser');
    const { cookie: other } = await leave();
    expect((await comeBack(callback, other)).status).toBe(403);
    expect((await comeBack(callback, cookie)).status).toBe(303);
    const again = await comeBack(callback, cookie);
    expect(again).toMatchObject({ status: 403, text: expect.stringContaining('used already') });
  });

  it('refuses who has no mapped group, and says which were seen', async () => {
    const { href, cookie } = await leave();
    const back = await comeBack(await signInAs('eve', href), cookie);
    expect(back.status).toBe(403);
    expect(back.text).toContain('guests');
  });

  it('tells the page which provider there is', async () => {
    const answer = await fetch(`${gateway.url}/console/api/v1/account/sso`);
    expect(await answer.json()).toEqual({
      type: 'sso',
      issuer: provider.issuer,
      client_id: CLIENT_ID,
    });
    expect(gateway.log()).not.toContain(CLIENT_SECRET);
  });
});
