import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { BROWSER, fillIn, openBrowser, signIn, visit } from './support/browser.ts';
import { startShop } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

const SCOPES = ['inference', 'models', 'account'];

describe.skipIf(BROWSER === undefined)('two sign-ins of one browser', () => {
  let browser: Browser;
  let shop: Shop;

  beforeAll(async () => {
    [browser, shop] = await Promise.all([openBrowser(), startShop()]);
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.stop();
  });

  /** An organization with a key, and the calls of that. */
  async function open(name: string) {
    const { body } = await shop.admin('POST', '/admin/v1/organizations', { name });
    const made = { name: `${name}-key`, organization: body.id, scopes: SCOPES };
    const key: string = (await shop.admin('POST', '/admin/v1/keys', made)).body.value;
    const chat = async (): Promise<string> =>
      (await shop.chat('lab/new', { key })).headers.get('x-request-id') ?? '';
    return { key, chat };
  }

  const rowOf = (page: Page, id: string) => page.locator(`[id="row-${id}"]`);

  it('show each its own organization: the later ends the former, and sees none of its rows', async () => {
    const [one, two] = [await open('one'), await open('two')];
    const { context, page: former, ...visitor } = await visit(browser);
    onTestFinished(() => visitor.end());
    const [ofOne, ofTwo] = [await one.chat(), await two.chat()];
    // It asks for a key before the other one is signed in.
    const later = await context.newPage();
    await later.goto(`${shop.url}/console`);
    await later.getByLabel('API key').waitFor();
    await signIn(former, shop.url, one.key);
    await rowOf(former, ofOne).waitFor();

    await fillIn(later, two.key);
    await rowOf(later, ofTwo).waitFor();
    await former.getByLabel('API key').waitFor();
    const rest = [await one.chat(), await two.chat()];
    await rowOf(later, rest[1] ?? '').waitFor();
    const shown = await later
      .locator('[role=row][id^=row-]')
      .evaluateAll((rows) => rows.map(({ id }) => id));
    expect(shown).toEqual([`row-${rest[1]}`, `row-${ofTwo}`]);
  });

  it('show more keys than the gateway lists at a time', async () => {
    const names = Array.from({ length: 101 }, (_, index) => `many-${index}`);
    for (const name of names) await shop.admin('POST', '/admin/v1/keys', { name });
    const visitor = await visit(browser);
    onTestFinished(() => visitor.end());
    await signIn(visitor.page, shop.url, shop.ownerKey);
    await visitor.page.goto(`${shop.url}/console/keys`);
    for (const name of ['owner', 'many-0', 'many-100'])
      await visitor.page.getByRole('link', { name, exact: true }).waitFor();
  });
});
