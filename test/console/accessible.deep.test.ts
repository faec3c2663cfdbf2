import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';
import {
  BROWSER,
  COLOR_RULES,
  openBrowser,
  seriousFindings,
  signIn,
  visit,
} from './support/browser.ts';
import type { Visitor } from './support/browser.ts';
import { faultOf } from './support/command-fault.ts';
import { clicksWithoutKeys, unreached, watchClicks } from './support/keyboard.ts';
import { PAGE_CASES, follow, isThere, openByKeys } from './support/page-cases.ts';
import { startShop, trade } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

const HEIGHT = 900;
const WIDE = 1_440;
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
/** Every fifth page each: axe and all presses of Tab cost seconds for a page. */
const TURNS = 5;
const GROUPS = Array.from({ length: TURNS }, (_none, turn) =>
  PAGE_CASES.filter((_page, index) => index % TURNS === turn),
);
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
  let shop: Shop;
  let bare: Shop;
  let visitor: Visitor;

  beforeAll(async () => {
    [shop, bare] = await Promise.all([startShop(), startShop({ config: {} })]);
    await trade(shop);
    const services = await shop.call('GET', '/v1/endpoints', { key: shop.ownerKey });
    await shop.call('POST', services.body.data[0].urls.rest, { body: { input: 'Hello?' } });
    // An editor takes its colors from the scheme that it is opened in.
    visitor = await visit(await openBrowser(), { width: WIDE, colorScheme: 'dark' });
    await watchClicks(visitor.page);
    await signIn(visitor.page, shop.url, shop.ownerKey);
  });
  afterEach(() => visitor?.check());
  afterAll(async () => {
    await visitor?.end();
    await Promise.all([shop?.stop(), bare?.stop()]);
  });

  /** The signed-in page in this width. */
  async function open(width: number): Promise<Page> {
    await visitor.page.setViewportSize({ width, height: HEIGHT });
    return visitor.page;
  }

  async function show(page: Page, view: string, title?: string): Promise<void> {
    await page.goto(`${shop.url}/console/${view}`);
    await isThere(page, title);
  }

  async function isSoundInLight(page: Page, what: string): Promise<void> {
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await seriousFindings(page, { only: COLOR_RULES }), `${what} light`).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
  }

  async function isSound(page: Page, what: string): Promise<void> {
    expect(await seriousFindings(page), what).toEqual([]);
    expect(await clicksWithoutKeys(page), what).toEqual([]);
    expect(await unreached(page), what).toEqual([]);
  }

  async function isSoundInBoth(page: Page, what: string): Promise<void> {
    await isSound(page, what);
    await isSoundInLight(page, what);
  }

  async function isInSight(page: Page, what: string): Promise<void> {
    expect(await layoutFaults(page), what).toEqual([]);
  }

  async function fitsPhone(page: Page, what: string): Promise<void> {
    await isInSight(page, what);
    expect(await seriousFindings(page, { without: COLOR_RULES }), what).toEqual([]);
  }

  it(
    verifies(
      'console.accessible',
      'is usable by keyboard on each page, fits on a phone, and has no serious finding of axe in light and dark',
    ),
    async () => {
      const page = await open(NARROW);
      await page.goto(`${shop.url}/console`);
      await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
      const close = new Set(inTurn('pages that axe looks at', GROUPS).flat());
      for (const one of PAGE_CASES) {
        const { path, title, views = [], act } = one;
        await page.setViewportSize({ width: NARROW, height: HEIGHT });
        // The page puts its name in sight when it is opened.
        await openByKeys(page, one);
        await (close.has(one) ? fitsPhone(page, path) : isInSight(page, path));
        await page.setViewportSize({ width: WIDE, height: HEIGHT });
        expect(await clicksWithoutKeys(page), path).toEqual([]);
        await act(page);
        if (!close.has(one)) continue;
        await follow(page, path);
        await isSoundInBoth(page, path);
        for (const view of views) {
          await page.setViewportSize({ width: NARROW, height: HEIGHT });
          await show(page, view, title);
          await fitsPhone(page, view);
          await page.setViewportSize({ width: WIDE, height: HEIGHT });
          await isSoundInBoth(page, view);
        }
      }
    },
  );

  it(verifies('console.accessible', 'names the exact command where a page is empty'), async () => {
    // A context of its own: cookies do not tell the ports of two gateways apart.
    const { page: empty, ...other } = await visit(await openBrowser(), { colorScheme: 'dark' });
    onTestFinished(() => other.end());
    await watchClicks(empty);
    await signIn(empty, bare.url, bare.ownerKey);
    for (const name of NEVER_EMPTY) await emptyList(empty, `/admin/v1/${name}?`);
    const close = inTurn('empty pages that axe looks at', Object.keys(EMPTY));
    for (const [path, command] of Object.entries(EMPTY)) {
      const page = PAGE_CASES.find((one) => one.path === path);
      if (page) await openByKeys(empty, page);
      else await empty.goto(`${bare.url}/console/${path}`);
      const named = empty.locator('.empty .command code');
      await named.first().waitFor();
      expect(await named.allTextContents(), path).toEqual([command]);
      expect(faultOf(command), command).toBeUndefined();
      if (!close.includes(path)) continue;
      await isSound(empty, `empty ${path}`);
      // What is shown in place of rows is the same on each page, as are its colors.
      if (path === close[0]) await isSoundInLight(empty, `empty ${path}`);
    }
  });

  it(
    verifies('console.accessible', 'fits what a page opens on the screen of a phone'),
    async () => {
      const page = await open(NARROW);
      await show(page, 'requests');
      const views: string[] = [];
      for (const [path, list] of Object.entries(LISTS)) {
        const { body } = await shop.call('GET', `${list}?limit=1`, { key: shop.ownerKey });
        views.push(`${path}?open=${body.data[0].id}`);
      }
      const close = inTurn('details that axe looks at', views);
      for (const view of views) {
        await follow(page, view);
        await page.getByRole('complementary').waitFor();
        await (close.includes(view) ? fitsPhone(page, view) : isInSight(page, view));
      }
    },
  );

  it('scrolls no list by the pointer alone while its rows are on their way', async () => {
    const page = await open(NARROW);
    onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
    await page.route(/v1\/(keys|audit|sessions|models)\b/, () => undefined);
    const lists = ['keys', 'audit', 'sessions', 'configuration'];
    for (const view of inTurn('lists whose rows are on their way', lists)) {
      await page.goto(`${shop.url}/console/${view}`);
      await page.locator('main thead').waitFor();
      const found = await seriousFindings(page, { only: ['scrollable-region-focusable'] });
      expect(found, view).toEqual([]);
    }
  });

  it('tells on the audit page what was changed, however long the name of a client is', async () => {
    const page = await open(WIDE);
    await show(page, 'audit');
    await page.getByRole('cell', { name: 'console_session' }).first().waitFor();
    expect(await layoutFaults(page)).toEqual([]);
    const list = page.locator('.list.scroll');
    expect(await list.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  });
});
