import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { dateTime } from '../../src/console/logic/format.ts';
import { verifies } from '../requirements.ts';
import { freePort } from '../store/support/free-port.ts';
import { newDirectory, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { BROWSER, openBrowser, signIn, visit } from './support/browser.ts';
import { SHOP, startShop, trade } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

const BUILT = fileURLToPath(new URL('../../dist/console/', import.meta.url));
const PAGES = [
  'requests',
  'costs',
  'sessions',
  'explain?model=team/fast',
  'keys',
  'schedules',
].concat([
  'services',
  'configuration?kind=models',
  'configuration?kind=files',
  'playground',
  'audit',
]);
const SECRETS = ['sk-first-0123456789abcdef', 'sk-second-0123456789abcdef'];

/** Titles of the navigation, without their keys. */
async function titlesOf(page: Page): Promise<string[]> {
  const pages = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  await pages.first().waitFor();
  return (await pages.allTextContents()).map((text) => text.replace(/g .$/, ''));
}

/** Status of a call that the signed-in page makes. */
function statusIn(page: Page, path: string): Promise<number> {
  return page.evaluate(async (at) => (await fetch(`/console/api${at}`)).status, path);
}

describe.skipIf(BROWSER === undefined)('the console', () => {
  let browser: Browser;
  let shop: Shop;

  beforeAll(async () => {
    [browser, shop] = await Promise.all([openBrowser(), startShop()]);
    await trade(shop);
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.stop();
  });

  async function open(key = shop.ownerKey): Promise<Page> {
    const visitor = await visit(browser);
    onTestFinished(() => visitor.end());
    await signIn(visitor.page, shop.url, key);
    return visitor.page;
  }

  it(
    verifies(
      'console.served',
      'is served at /console by the gateway itself, every file from the package, and asks no other host',
    ),
    async () => {
      const visitor = await visit(browser);
      onTestFinished(() => visitor.end());
      const { page, context } = visitor;
      const hosts = new Set<string>();
      const files: string[] = [];
      context.on('request', (sent) => {
        const { origin, pathname } = new URL(sent.url());
        hosts.add(origin);
        if (!pathname.startsWith('/console/api/')) files.push(sent.url());
      });
      await signIn(page, shop.url, shop.ownerKey);
      for (const path of PAGES) {
        await page.goto(`${shop.url}/console/${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.locator('table, .grid, .empty, form, .editor').first().waitFor();
      }
      expect([...hosts]).toEqual([shop.url]);
      expect(files.length).toBeGreaterThan(20);
      for (const url of new Set(files)) {
        const answer = await fetch(url);
        const policy = answer.headers.get('content-security-policy');
        // What a page or its worker would load from elsewhere, the browser refuses.
        expect(policy, url).toMatch(/default-src 'self'.*connect-src 'self'/);
        expect(policy).not.toMatch(/https?:|\*/);
        const { pathname } = new URL(url);
        const name = pathname.includes('.') ? pathname.slice('/console/'.length) : 'index.html';
        const built = await readFile(join(BUILT, name));
        expect(Buffer.from(await answer.arrayBuffer()).equals(built), pathname).toBe(true);
      }
    },
  );

  it(
    verifies('console.audit', 'shows who changed what, when, from where, old and new, no secret'),
    async () => {
      const names = ['auditor', 'acme'];
      const made = await shop.admin('POST', '/admin/v1/keys', {
        name: names[0],
        scopes: ['admin'],
      });
      const key = made.body.value;
      const call = (method: string, path: string, body: object) =>
        shop.call(method, path, { key, body, headers: { 'user-agent': 'shell/1.0' } });
      const [first, second] = SECRETS;
      const provider = { name: names[1], type: 'openai', api_key: first };
      await call('POST', '/admin/v1/providers', provider);
      const change = { api_key: second, base_url: 'https://llm.example/v1' };
      const changed = await call('PATCH', '/admin/v1/providers/acme', change);
      expect(changed.status).toBe(200);
      const request = changed.headers.get('x-request-id');
      const { data } = (await shop.admin('GET', `/admin/v1/audit?request=${request}`)).body;

      const page = await open();
      await page.goto(`${shop.url}/console/audit`);
      const row = page.getByRole('row', { name: /auditor key update provider acme/ });
      await row.getByText('127.0.0.1 · shell/1.0').waitFor();
      expect(await row.locator('time').getAttribute('title')).toBe(
        dateTime(Date.parse(data[0].at)),
      );
      await row.getByRole('link', { name: 'provider acme' }).click();
      const detail = page.getByRole('complementary', { name: `Entry ${data[0].id}` });
      for (const text of ['auditor', 'update provider acme', '127.0.0.1 · shell/1.0'])
        await detail.getByRole('definition').filter({ hasText: text }).first().waitFor();
      const changes = detail.getByRole('table', { name: 'Changes' });
      await changes.getByRole('row', { name: /base_url.*https:\/\/llm\.example\/v1/ }).waitFor();
      await changes.getByRole('row', { name: 'api_key [secret] [secret]' }).waitFor();
      const text = await page.content();
      for (const secret of [...SECRETS, key]) expect(text).not.toContain(secret);
    },
  );

  it(
    verifies(
      'console.scopes',
      'shows a key without admin its own organization alone, what its role allows, and the API refuses the rest',
    ),
    async () => {
      const other = await shop.admin('POST', '/admin/v1/organizations', { name: 'tenant' });
      const scopes = ['inference', 'models', 'account'];
      const make = async (name: string, part: object): Promise<string> =>
        (await shop.admin('POST', '/admin/v1/keys', { name, scopes, ...part })).body.value;
      const key = await make('tenant-key', { organization: other.body.id });
      const own = (await shop.chat('lab/new', { key })).headers.get('x-request-id') ?? '';
      const foreign = (await shop.chat('team/fast')).headers.get('x-request-id') ?? '';

      const page = await open(key);
      expect(await titlesOf(page)).toEqual(['Requests', 'Costs', 'Keys', 'Playground']);
      await page.locator(`[id="row-${own}"]`).waitFor();
      expect(await page.locator('[role=row][id^=row-]').count()).toBe(1);
      await page.goto(`${shop.url}/console/costs?by=key`);
      const costs = page.getByRole('table', { name: 'Costs by Key' });
      await costs.getByRole('row', { name: /^tenant-key 1 / }).waitFor();
      expect(await costs.locator('tbody tr').count()).toBe(1);
      await page.goto(`${shop.url}/console/keys`);
      await page.getByRole('definition').filter({ hasText: 'tenant-key' }).waitFor();
      expect(await page.getByText('client', { exact: true }).count()).toBe(0);

      const statusOf = (path: string): Promise<number> => statusIn(page, path);
      for (const name of ['requests', 'requests/events', 'usage', 'keys', 'audit', 'status'])
        expect(await statusOf(`/admin/v1/${name}`), name).toBe(403);
      expect(await statusOf(`/v1/account/executions/${own}`)).toBe(200);
      expect(await statusOf(`/v1/account/executions/${foreign}`)).toBe(404);
      expect(await statusOf('/v1/sessions')).toBe(403);
      await page.goto(`${shop.url}/console/audit`);
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      expect(await page.getByText('team/fast').count()).toBe(0);

      // A role takes away from what the scopes show.
      const admin = { scopes: ['admin', 'account', 'inference'] };
      const books = await open(await make('books', { ...admin, role: 'billing' }));
      await books.waitForURL(/console\/costs/);
      expect(await titlesOf(books)).toEqual(['Costs', 'Keys']);
      await books.getByRole('heading', { name: 'Costs' }).waitFor();
      expect(await statusIn(books, '/admin/v1/requests')).toBe(403);
      expect(await statusIn(books, '/admin/v1/usage')).toBe(200);
      const guest = await open(await make('guest', { ...admin, role: 'viewer' }));
      const seen = ['Requests', 'Costs', 'Explain', 'Keys', 'Configuration', 'Audit'];
      expect(await titlesOf(guest)).toEqual(seen);
      await guest.goto(`${shop.url}/console/keys`);
      await guest.getByText('tenant-key').first().waitFor();
      expect(await guest.getByRole('button', { name: 'New key' }).count()).toBe(0);
    },
  );

  it(
    verifies(
      'console.reconnect',
      'shows a gateway that is killed as cut off, goes on when it is back, without gap or duplicate',
    ),
    async () => {
      const [port, directory] = [await freePort(), await newDirectory()];
      const config = { ...SHOP, server: { ...SHOP.server, listen: { port } } };
      const killed = await startShop({ config, directory });
      let running: TestGateway = killed;
      onTestFinished(async () => {
        await running.stop();
        await rm(directory, { recursive: true, force: true });
      });
      await trade(killed, 20);
      const visitor = await visit(browser);
      onTestFinished(() => visitor.context.close());
      const { page } = visitor;
      // Tall enough for every row to have a node.
      await page.setViewportSize({ width: 1_440, height: 4_000 });
      await signIn(page, killed.url, killed.ownerKey);
      await page.getByText('live', { exact: true }).waitFor();
      await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));

      const asked = Array.from({ length: 20 }, () =>
        killed.chat('openai/gpt-5-mini', { key: killed.ownerKey }).catch(() => undefined),
      );
      await asked[0];
      killed.child?.kill('SIGKILL');
      await Promise.all(asked);
      await page.getByText('cut off', { exact: true }).waitFor();

      running = await startGateway(config, { binary: true, directory });
      await page.getByText('live', { exact: true }).waitFor();
      for (let index = 0; index < 15; index++)
        await running.chat('lab/new', { key: killed.ownerKey });
      const listed = async (): Promise<string[]> => {
        const { data } = (await running.admin('GET', '/admin/v1/requests?limit=1000')).body;
        return data.map(({ id }: { id: string }) => `row-${id}`);
      };
      const shown = (): Promise<string[]> =>
        page.locator('[role=row][id^=row-]').evaluateAll((rows) => rows.map(({ id }) => id));
      await expect
        .poll(async () => (await shown()).join() === (await listed()).join(), { timeout: 60_000 })
        .toBe(true);
      const ids = await shown();
      expect(ids.length).toBeGreaterThanOrEqual(36);
      expect(new Set(ids).size).toBe(ids.length);
      expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true);
    },
  );
});
