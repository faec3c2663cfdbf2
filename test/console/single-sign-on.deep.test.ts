import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLIENT_ID, CLIENT_SECRET, startIdentityProvider } from '../e2e/sso/identity-provider.ts';
import type { IdentityProvider } from '../e2e/sso/identity-provider.ts';
import { verifies } from '../requirements.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { BROWSER, forget, openBrowser, visit } from './support/browser.ts';
import type { Visitor } from './support/browser.ts';

describe.skipIf(BROWSER === undefined)('single sign-on in a browser', () => {
  let visitor: Visitor;
  let provider: IdentityProvider;
  let gateway: TestGateway;

  beforeAll(async () => {
    [visitor, provider] = await Promise.all([
      openBrowser().then((browser) => visit(browser)),
      startIdentityProvider({ ada: ['leads'], eve: ['guests'] }),
    ]);
    const sso = {
      issuer: provider.issuer,
      client_id: CLIENT_ID,
      client_secret: '${secret:env:SSO_SECRET}',
      roles: [{ group: 'leads', organization: 'team-a', role: 'viewer' }],
    };
    const config = { server: { sso }, organizations: [{ name: 'team-a' }] };
    gateway = await startGateway(config, { env: { SSO_SECRET: CLIENT_SECRET } });
  });
  afterEach(() => visitor?.check());
  afterAll(async () => {
    await visitor?.end();
    await gateway?.stop();
    await provider?.stop();
  });

  /** Clicks the button of the sign-in page, and signs in at the provider under this name. */
  async function signInAs(login: string): Promise<Page> {
    await forget(visitor);
    const { page } = visitor;
    await page.goto(`${gateway.url}/console`);
    const { host } = new URL(provider.issuer);
    await page.getByRole('link', { name: `Sign in with ${host}` }).click();
    await page.locator('input[name=login]').fill(login);
    await page.locator('input[name=password]').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    return page;
  }

  it(
    verifies('sso.login', 'signs a person in to the console with the role of their group'),
    async () => {
      const page = await signInAs('ada');
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      expect(page.url()).not.toContain('link=');
      const { key, organization } = await page.evaluate<{
        key: { name: string; role: string };
        organization: { name: string };
      }>(async () => (await fetch('/console/api/session')).json());
      expect(key.name).toMatch(/^ada@example\.com /);
      expect([key.role, organization.name]).toEqual(['viewer', 'team-a']);
      const keys = await gateway.admin('GET', '/admin/v1/keys');
      expect(JSON.stringify(keys.body)).toContain(key.name);
    },
  );

  it(verifies('sso.login', 'refuses a person without a mapped group, and says why'), async () => {
    const page = await signInAs('eve');
    await page.getByText('eve@example.com has no role here').waitFor();
    await page.goto(`${gateway.url}/console`);
    await page.getByLabel('API key').waitFor();
  });
});
