import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CLIENT_ID, CLIENT_SECRET, startIdentityProvider } from '../e2e/sso/identity-provider.ts';
import type { IdentityProvider } from '../e2e/sso/identity-provider.ts';
import { verifies } from '../requirements.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { BROWSER, openBrowser, visit } from './support/browser.ts';

describe.skipIf(BROWSER === undefined)('single sign-on in a browser', () => {
  let browser: Browser;
  let provider: IdentityProvider;
  let gateway: TestGateway;

  beforeAll(async () => {
    [browser, provider] = await Promise.all([
      openBrowser(),
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
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    await provider?.stop();
  });

  /** Clicks the button of the sign-in page, and signs in at the provider under this name. */
  async function signInAs(login: string): Promise<Page> {
    const visitor = await visit(browser);
    onTestFinished(() => visitor.end());
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
