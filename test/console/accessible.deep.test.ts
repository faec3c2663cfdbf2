import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../requirements.ts';
import { BROWSER, openBrowser, seriousFindings, signIn, visit } from './support/browser.ts';
import { faultOf } from './support/command-fault.ts';
import { clicksWithoutKeys, unreached, watchClicks } from './support/keyboard.ts';
import { PAGE_CASES } from './support/page-cases.ts';
import { startShop, trade } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

/** Commands that the pages name where they have nothing to show. */
const EMPTY: Readonly<Record<string, string>> = {
  requests: 'gateway chat MODEL "Hello"',
  'requests?q=model:none': 'gateway chat MODEL "Hello"',
  costs: 'gateway chat MODEL "Hello"',
  sessions: 'gateway invoke SERVICE "Hello" --follow',
  explain: 'gateway init',
  keys: 'gateway keys create NAME',
  schedules: 'gateway init --template scheduled-report',
  services: 'gateway init --template agent-service',
  'configuration?kind=models': 'gateway apply -f gateway.yaml',
  playground: 'gateway init',
  audit: 'gateway apply -f gateway.yaml',
};
/** What a gateway always has one of: an empty list takes its place. */
const NEVER_EMPTY = ['keys', 'audit'];

/** Answers reads of a list with none, also where they are part of a request. */
async function emptyList(page: Page, read: string): Promise<void> {
  const none = { data: [], next_page: null };
  await page.route(`**/console/api${read}*`, (route) => route.fulfill({ json: none }));
  await page.route(
    (url) => isTogether(url) && url.searchParams.getAll('read').some((one) => one.startsWith(read)),
    async (route) => {
      const reads = new URL(route.request().url()).searchParams.getAll('read');
      const answer = await route.fetch();
      const { data } = (await answer.json()) as { data: object[] };
      const parts = data.map((part, index) =>
        reads[index]?.startsWith(read) ? { status: 200, body: none } : part,
      );
      await route.fulfill({ response: answer, json: { data: parts } });
    },
  );
}

const isTogether = ({ pathname }: URL): boolean => pathname === '/console/api/together';

describe.skipIf(BROWSER === undefined)('the console', () => {
  let browser: Browser;
  let shop: Shop;
  let bare: Shop;

  beforeAll(async () => {
    browser = await openBrowser();
    [shop, bare] = await Promise.all([startShop(), startShop({ config: {}, binary: false })]);
    await trade(shop);
    const services = await shop.call('GET', '/v1/endpoints', { key: shop.ownerKey });
    await shop.call('POST', services.body.data[0].urls.rest, { body: { input: 'Hello?' } });
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([shop?.stop(), bare?.stop()]);
  });

  async function open({ url, ownerKey }: Shop): Promise<Page> {
    const visitor = await visit(browser);
    onTestFinished(() => visitor.end());
    await watchClicks(visitor.page);
    await signIn(visitor.page, url, ownerKey);
    return visitor.page;
  }

  async function isSound(page: Page, what: string): Promise<void> {
    await page.locator('main table, .grid, .empty, form, .editor').first().waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousFindings(page), `${what} ${colorScheme}`).toEqual([]);
    }
    expect(await clicksWithoutKeys(page), what).toEqual([]);
    expect(await unreached(page), what).toEqual([]);
  }

  it(
    verifies(
      'console.accessible',
      'is usable by keyboard on each page, has no serious finding of axe in light and dark, and names the exact command where a page is empty',
    ),
    async () => {
      const page = await open(shop);
      await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
      for (const { path, key, title, views = [], act } of PAGE_CASES) {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        await page.waitForURL(new RegExp(`/console/${path}`));
        await page.getByRole('heading', { level: 1, name: title }).waitFor();
        await act(page);
        for (const view of [path, ...views]) {
          await page.goto(`${shop.url}/console/${view}`);
          await page.getByRole('heading', { level: 1, name: title }).waitFor();
          await isSound(page, view);
        }
      }

      const empty = await open(bare);
      for (const name of NEVER_EMPTY) await emptyList(empty, `/admin/v1/${name}?`);
      for (const [path, command] of Object.entries(EMPTY)) {
        await empty.goto(`${bare.url}/console/${path}`);
        const named = empty.locator('.empty .command code');
        await named.first().waitFor();
        expect(await named.allTextContents(), path).toEqual([command]);
        expect(faultOf(command), command).toBeUndefined();
        await isSound(empty, `empty ${path}`);
      }
    },
  );
});
