import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CALLS } from '../../src/console/api/calls.ts';
import { operationsOf } from '../e2e/api/openapi-checker.ts';
import { verifies } from '../requirements.ts';
import { BROWSER, openBrowser, signIn, visit } from './support/browser.ts';
import { countStreams } from './support/count-streams.ts';
import type { StreamCounter } from './support/count-streams.ts';
import { PAGE_CASES } from './support/page-cases.ts';
import { startShop, trade } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

const SOURCES = fileURLToPath(new URL('../../src/console/', import.meta.url));
/** The two places that speak to the gateway: calls, and streams that tabs share. */
const SPEAKERS = ['api/call.ts', 'stream/browser-connection.ts'];
/** Ways to speak that browsers have. */
const SPEAKS = /\bfetch\(|XMLHttpRequest|EventSource|WebSocket|sendBeacon/;

describe.skipIf(BROWSER === undefined)('the calls of the console', () => {
  let browser: Browser;
  let shop: Shop;
  let counter: StreamCounter;

  beforeAll(async () => {
    [browser, shop] = await Promise.all([openBrowser(), startShop()]);
    counter = await countStreams(shop.url);
    await trade(shop);
    const services = await shop.call('GET', '/v1/endpoints', { key: shop.ownerKey });
    const body = { input: 'Where is order A-17?' };
    await shop.call('POST', services.body.data[0].urls.rest, { body });
  });
  afterAll(async () => {
    await browser?.close();
    counter?.close();
    await shop?.stop();
  });

  async function open(key: string): Promise<Page> {
    const visitor = await visit(browser);
    onTestFinished(() => visitor.end());
    await signIn(visitor.page, counter.url, key);
    return visitor.page;
  }

  /** Operations of both documents: `GET /v1/sessions/{id}`. */
  async function documented(): Promise<string[]> {
    const documents = await Promise.all(
      ['/openapi.json', '/admin/openapi.json'].map((path) => shop.call('GET', path, { key: '' })),
    );
    return documents.flatMap(({ body }) =>
      operationsOf(body).map(({ method, path }) => `${method} ${path}`),
    );
  }

  it(
    verifies(
      'console.api-only',
      'are those of its typed client, and each is in the OpenAPI documents of the gateway',
    ),
    async () => {
      const known = (await documented()).map(withoutNames);
      expect(CALLS.filter((call) => !known.includes(withoutNames(call)))).toEqual([]);

      const files = await readdir(SOURCES, { recursive: true });
      const modules = files.filter((name) => /\.tsx?$/.test(name));
      const texts = await Promise.all(modules.map((name) => readFile(join(SOURCES, name), 'utf8')));
      const speakers = modules.filter((_name, index) => SPEAKS.test(texts[index] ?? ''));
      expect(speakers.toSorted()).toEqual(SPEAKERS);

      await useAll(await open(shop.ownerKey));
      const scopes = ['inference', 'models', 'account'];
      const reader = await shop.admin('POST', '/admin/v1/keys', { name: 'reader', scopes });
      const page = await open(reader.body.value);
      for (const path of ['requests?group=conversation', 'costs', 'keys', 'playground']) {
        await page.goto(`${counter.url}/console/${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.locator('main table, .grid, .empty, form').first().waitFor();
      }

      const made = [...new Set(counter.asked)].filter((call) => !call.endsWith(' /session'));
      const patterns = CALLS.map(toPattern);
      expect(made.filter((call) => !patterns.some((one) => one.test(call)))).toEqual([]);
      const used = CALLS.filter((call) => made.some((one) => toPattern(call).test(one)));
      expect(used.length).toBeGreaterThan(35);
    },
  );

  /** Goes to every page and does what can be done there. */
  async function useAll(page: Page): Promise<void> {
    for (const { path, title, views = [], act } of PAGE_CASES)
      for (const view of [path, ...views]) {
        await page.goto(`${counter.url}/console/${view}`);
        await page.getByRole('heading', { level: 1, name: title }).waitFor();
        await page.locator('main table, .grid, .empty, form, .editor').first().waitFor();
        if (view === path) await act(page);
      }
    await page.goto(`${counter.url}/console/keys`);
    await page.getByRole('link', { name: 'typed' }).click();
    const detail = page.getByRole('complementary');
    await detail.getByRole('button', { name: 'Rotate' }).click();
    await detail.getByText('Value, shown only now').waitFor();
    await detail.getByRole('button', { name: 'Revoke' }).click();
    await detail.getByRole('button', { name: 'Revoke typed now' }).click();
    await detail.getByText('revoked').waitFor();
    await page.goto(`${counter.url}/console/sessions`);
    await page.locator('tbody a').first().click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('log').getByText('done', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Archive' }).click();
    await page.getByPlaceholder('The Session is archived').waitFor();
    await page.goto(`${counter.url}/console/schedules`);
    for (const name of ['Run now', 'Pause', 'Unpause'])
      await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await page.goto(`${counter.url}/console/services`);
    await page.getByRole('link', { name: 'Order desk' }).click();
    await page.getByPlaceholder('Message').fill('Hello');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/sessions\/sess_/);
    await page.goto(`${counter.url}/console/playground?model=openai/gpt-5-mini`);
    for (const name of ['Responses', 'Generate content'])
      await page.getByRole('button', { name }).click();
    for (const isStreamed of [false, true]) {
      await page.getByLabel('Stream').setChecked(isStreamed);
      await page.getByRole('button', { name: 'Send' }).click();
      for (const answer of await page.locator('.answer').all())
        await answer.getByText(isStreamed ? 'data: ' : 'You said').waitFor();
    }
  }
});

const withoutNames = (call: string): string => call.replace(/\{\w+\}/g, '{}');

function toPattern(call: string): RegExp {
  return new RegExp(`^${call.replace(/\{\w+\}/g, '[^ ]+')}$`);
}
