import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../requirements.ts';
import { BROWSER, openBrowser, seriousFindings, signIn, visit } from './support/browser.ts';
import { PAGE_CASES } from './support/page-cases.ts';
import { startShop, trade } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

/** Width of a phone. */
const NARROW = 390;
/** Width of a cell that still tells what is in it. */
const READABLE = 56;

/** Lists of what pages open. */
const LISTS: Readonly<Record<string, string>> = {
  requests: '/admin/v1/requests',
  keys: '/admin/v1/keys',
  services: '/v1/endpoints',
  audit: '/admin/v1/audit',
};

/** What is beyond the screen, cut to nothing, or drawn over something else. */
function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate((readable) => {
    const faults: string[] = [];
    const { scrollWidth } = document.documentElement;
    if (scrollWidth > innerWidth) faults.push(`the page is ${scrollWidth} px wide`);
    const shown = [...document.querySelectorAll<HTMLElement>('header *, nav *, main *')].filter(
      (element) => element.checkVisibility() && !element.closest('.hidden'),
    );
    const told = (element: Element): string => element.outerHTML.slice(0, 120);
    for (const element of shown) {
      const isCut = element.scrollWidth > element.clientWidth + 1;
      const { overflowX } = getComputedStyle(element);
      if (isCut && overflowX === 'hidden' && element.clientWidth < readable && element.innerText)
        faults.push(`cut to ${element.clientWidth} px: ${told(element)}`);
    }
    const places = document.querySelectorAll('header, .head, .foot, .title, .row');
    for (const place of places) {
      const boxes = [...place.children].map((child) => ({
        child,
        box: child.getBoundingClientRect(),
        words: (child as HTMLElement).scrollWidth,
      }));
      for (const [index, { child, box, words }] of boxes.entries())
        for (const { box: next } of boxes.slice(index + 1)) {
          const isBeside = next.top < box.bottom - 1 && next.bottom > box.top + 1;
          const isCut = getComputedStyle(child).overflowX !== 'visible';
          const right = box.left + (isCut ? box.width : words);
          if (isBeside && next.left >= box.left && right > next.left + 1)
            faults.push(`drawn over what follows: ${told(child)}`);
        }
    }
    const current = document.querySelector('nav [aria-current]')?.getBoundingClientRect();
    if (current && current.right > innerWidth) faults.push('the name of the page is not seen');
    return faults;
  }, READABLE);
}

describe.skipIf(BROWSER === undefined)('the console', () => {
  let browser: Browser;
  let shop: Shop;

  beforeAll(async () => {
    [browser, shop] = await Promise.all([openBrowser(), startShop()]);
    await trade(shop);
    const services = await shop.call('GET', '/v1/endpoints', { key: shop.ownerKey });
    await shop.call('POST', services.body.data[0].urls.rest, { body: { input: 'Hello?' } });
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.stop();
  });

  async function open(width: number): Promise<Page> {
    const visitor = await visit(browser, { width });
    onTestFinished(() => visitor.end());
    await signIn(visitor.page, shop.url, shop.ownerKey);
    return visitor.page;
  }

  async function show(page: Page, view: string): Promise<void> {
    await page.goto(`${shop.url}/console/${view}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('main table, .grid, .empty, form, .editor').first().waitFor();
  }

  it(verifies('console.accessible', 'fits each page on the screen of a phone'), async () => {
    const page = await open(NARROW);
    const details = ['keys?new=1'];
    for (const [path, list] of Object.entries(LISTS)) {
      const { body } = await shop.call('GET', `${list}?limit=1`, { key: shop.ownerKey });
      details.push(`${path}?open=${body.data[0].id}`);
    }
    const views = PAGE_CASES.flatMap(({ path, views: more = [] }) => [path, ...more]);
    for (const view of [...views, ...details]) {
      await show(page, view);
      expect(await layoutFaults(page), view).toEqual([]);
      expect(await seriousFindings(page), view).toEqual([]);
    }
  });

  it('scrolls no list by the pointer alone while its rows are on their way', async () => {
    const page = await open(NARROW);
    await page.route(/v1\/(keys|audit|sessions|models)\b/, () => undefined);
    for (const view of ['keys', 'audit', 'sessions', 'configuration']) {
      await page.goto(`${shop.url}/console/${view}`);
      await page.locator('main thead').waitFor();
      expect(await seriousFindings(page), view).toEqual([]);
    }
  });

  it('tells on the audit page what was changed, however long the name of a client is', async () => {
    const page = await open(1_440);
    await show(page, 'audit');
    await page.getByRole('cell', { name: 'console_session' }).first().waitFor();
    expect(await layoutFaults(page)).toEqual([]);
    const list = page.locator('.list.scroll');
    expect(await list.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  });
});
