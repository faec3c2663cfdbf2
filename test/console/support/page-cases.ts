import type { Page } from 'playwright-core';

/** A page: the key behind `g`, its title, its further views, and something to do there by keys alone. */
export interface PageCase {
  readonly path: string;
  readonly key: string;
  readonly title: string;
  readonly views?: readonly string[];
  act(page: Page): Promise<void>;
}

/** What a page shows once it is there. */
const CONTENT = 'main table, .grid, .empty, form, .editor';

/** Waits until a page of this title is there. */
export async function isThere(page: Page, name?: string): Promise<void> {
  await page.getByRole('heading', { level: 1, ...(name && { name }) }).waitFor();
  await page.locator(CONTENT).first().waitFor();
}

/** Goes to a page by its keys, which costs a fraction of a load. */
export async function openByKeys(page: Page, { key, title }: PageCase): Promise<void> {
  // A field that has the focus would take the keys.
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press('g');
  await page.keyboard.press(key);
  await isThere(page, title);
}

/** Follows a link within the console, which costs a fraction of a load. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate((href) => {
    const link = Object.assign(document.createElement('a'), { href });
    document.body.append(link);
    link.click();
    link.remove();
  }, `/console/${path}`);
  const [name] = path.split('?');
  await isThere(page, PAGE_CASES.find((one) => one.path === name)?.title);
}

const detailOf = (page: Page) => page.getByRole('complementary');

/** Opens what a link or button names, and closes it again. */
async function openAndClose(page: Page, role: 'link' | 'button', name: string): Promise<void> {
  await page.getByRole('main').getByRole(role, { name }).first().press('Enter');
  await detailOf(page).waitFor();
  await page.keyboard.press('Escape');
  await detailOf(page).waitFor({ state: 'detached' });
}

export const PAGE_CASES: readonly PageCase[] = [
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
