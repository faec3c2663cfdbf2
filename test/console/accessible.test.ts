import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../requirements.ts';
import { BROWSER, openBrowser, seriousFindings, signIn, visit } from './support/browser.ts';
import { faultOf } from './support/command-fault.ts';
import { clicksWithoutKeys, unreached, watchClicks } from './support/keyboard.ts';
import { startShop, trade } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

/** A page: the key behind `g`, its title, its further views, and something to do there by keys alone. */
interface PageCase {
  readonly path: string;
  readonly key: string;
  readonly title: string;
  readonly views?: readonly string[];
  act(page: Page): Promise<void>;
}

const detailOf = (page: Page) => page.getByRole('complementary');

/** Opens what a link or button names, and closes it again. */
async function openAndClose(page: Page, role: 'link' | 'button', name: string): Promise<void> {
  await page.getByRole('main').getByRole(role, { name }).first().press('Enter');
  await detailOf(page).waitFor();
  await page.keyboard.press('Escape');
  await detailOf(page).waitFor({ state: 'detached' });
}

const CASES: readonly PageCase[] = [
  {
    path: 'requests',
    key: 'r',
    title: 'Requests',
    views: ['requests?group=conversation'],
    async act(page) {
      await page.locator('[role=row][id^=row-]').first().waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await detailOf(page).waitFor();
      await page.keyboard.press('Escape');
      await detailOf(page).waitFor({ state: 'detached' });
    },
  },
  {
    path: 'costs',
    key: 'c',
    title: 'Costs',
    async act(page) {
      await page.getByLabel('By', { exact: true }).press('ArrowDown');
      await page.waitForURL(/by=vendor/);
      await page.getByLabel('First day').press('ArrowUp');
      await page.waitForURL(/from=/);
    },
  },
  {
    path: 'sessions',
    key: 's',
    title: 'Sessions',
    async act(page) {
      await page.locator('tbody a').first().press('Enter');
      await page.getByRole('log').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('log').waitFor({ state: 'detached' });
    },
  },
  {
    path: 'explain',
    key: 'e',
    title: 'Explain',
    views: ['explain?model=team/fast'],
    async act(page) {
      await page.getByLabel('Protocol of the client').press('ArrowDown');
      await page.waitForURL(/protocol=responses/);
    },
  },
  {
    path: 'keys',
    key: 'k',
    title: 'Keys',
    views: ['keys?new=1'],
    async act(page) {
      await openAndClose(page, 'link', 'owner');
      await page.keyboard.press('n');
      await page.getByLabel('Name').press('Tab');
      await page.getByLabel('Name').fill('typed');
      await page.getByLabel('Name').press('Enter');
      await detailOf(page).getByText('Value, shown only now').waitFor();
    },
  },
  {
    path: 'schedules',
    key: 'd',
    title: 'Schedules',
    async act(page) {
      await page.getByRole('button', { name: 'Week after' }).press('Enter');
      await page.waitForURL(/week=1/);
    },
  },
  {
    path: 'services',
    key: 'v',
    title: 'Services and Agents',
    act: (page) => openAndClose(page, 'link', 'Order desk'),
  },
  {
    path: 'configuration',
    key: 'f',
    title: 'Configuration',
    views: ['configuration?kind=files'],
    act: (page) => openAndClose(page, 'button', 'west'),
  },
  {
    path: 'playground',
    key: 'p',
    title: 'Playground',
    async act(page) {
      await page.getByRole('textbox', { name: 'Message' }).fill('Hello');
      await page.getByRole('button', { name: 'Send' }).press('Enter');
      await page.locator('.answer').getByText('You said').first().waitFor();
    },
  },
  {
    path: 'audit',
    key: 'a',
    title: 'Audit',
    act: (page) => openAndClose(page, 'link', 'api_key owner'),
  },
];

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
      for (const { path, key, title, views = [], act } of CASES) {
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
      for (const name of NEVER_EMPTY)
        await empty.route(`**/console/api/admin/v1/${name}?*`, (route) =>
          route.fulfill({ json: { data: [], next_page: null } }),
        );
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
