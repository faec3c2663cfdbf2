import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { count, money, percent } from '../../src/console/logic/format.ts';
import { verifies } from '../requirements.ts';
import { startVendor } from '../support/fake-vendor.ts';
import type { FakeVendor } from '../support/fake-vendor.ts';
import { eventually } from '../support/gateway.ts';
import { BROWSER, forget, openBrowser, seriousFindings, signIn, visit } from './support/browser.ts';
import type { Visitor } from './support/browser.ts';
import { SHOP, startShop } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

/** Every dimension that the page tells costs by, with its title. */
const DIMENSIONS = {
  model: 'Model',
  vendor: 'Vendor',
  key: 'Key',
  organization: 'Organization',
  conversation: 'Conversation',
  end_user: 'End user',
  agent: 'Agent',
  service: 'Service',
  schedule: 'Schedule',
  'label:team': 'Label team',
  'tag:feature': 'Tag feature',
};
const MONTH = new Date().toISOString().slice(0, 7);

interface Row {
  readonly requests: number;
  readonly errors: number;
  readonly unpriced: number;
  readonly cost: string | null;
  readonly [group: string]: unknown;
}

describe.skipIf(BROWSER === undefined)('the Costs page', () => {
  let visitor: Visitor;
  let shop: Shop;
  let vendor: FakeVendor;

  beforeAll(async () => {
    vendor = await startVendor([]);
    const started = startShop({ config: toConfig(vendor) });
    [visitor, shop] = await Promise.all([visit(await openBrowser()), started]);
    await spend(shop);
  });
  afterEach(() => visitor?.check());
  afterAll(async () => {
    await visitor?.end();
    await shop?.stop();
    await vendor?.close();
  });

  let isSignedIn = false;

  async function open(search: string): Promise<Page> {
    if (!isSignedIn) await signIn(visitor.page, shop.url, shop.ownerKey);
    isSignedIn = true;
    await visitor.page.goto(`${shop.url}/console/costs${search}`);
    return visitor.page;
  }

  it(
    verifies(
      'console.costs',
      'shows the month, its forecast, limits and each dimension from sums, unpriced apart, and saves what is seen',
    ),
    async () => {
      const page = await open('');
      const month = (await shop.admin('GET', `/admin/v1/usage?month=${MONTH}`)).body;
      const own = await ownOrganization(shop);
      const spending = await shop.admin('GET', `/admin/v1/spending?organization=${own}`);
      const spent = spending.body.spent.month;
      const totals = page.locator('dl.totals');
      for (const [title, value] of [
        ['Month to date', money(month.forecast.spent)],
        ['Forecast of the month', money(month.forecast.cost)],
        [
          'Limit of the month, default',
          `${money(spent)} of $50.00, ${percent(Number(spent) / 50)} spent`,
        ],
        ['Unpriced', `${count(month.forecast.unpriced)} requests`],
      ] as const)
        await totals.locator('div', { hasText: title }).getByText(value).first().waitFor();
      expect(month.forecast.unpriced).toBeGreaterThan(0);
      const budget = page.getByRole('table', { name: 'Budgets' }).getByRole('row', { name: /all/ });
      await budget.getByText('$20.00').waitFor();

      const choice = page.getByLabel('By', { exact: true });
      expect(await choice.locator('option').allTextContents()).toEqual(Object.values(DIMENSIONS));
      for (const [group, title] of Object.entries(DIMENSIONS)) {
        await choice.selectOption(group);
        const query = `?group_by=${encodeURIComponent(group)}&month=${MONTH}`;
        const { data } = (await shop.admin('GET', `/admin/v1/usage${query}`)).body;
        const table = page.getByRole('table', { name: `Costs by ${title}`, exact: true });
        await table.waitFor();
        const shown = new Map((await linesOf(table)).map((cells) => [cells['name'], cells]));
        for (const row of data as Row[]) {
          const name = String(row[`${group}_name`] ?? row[group] ?? 'none');
          expect(shown.get(name), `${group} ${name}`).toMatchObject({
            requests: count(row.requests),
            unpriced: count(row.unpriced),
            cost: money(row.cost),
          });
        }
        expect(shown.size, group).toBe(data.length);
        // Nothing that is not known is told as nothing.
        for (const { unpriced, requests, cost } of shown.values())
          if (unpriced === requests) expect(cost).toBe('unpriced');
        expect(await savedBy(page), group).toEqual(
          [...shown.values()].map((cells) => cells['name']),
        );
      }
      expect(await page.getByText('$0.00', { exact: true }).count()).toBe(0);
    },
  );

  it('holds a key and an organization against their limits, and saves these too', async () => {
    const page = await open('?by=key');
    const { data } = (await shop.admin('GET', `/admin/v1/usage?group_by=key&month=${MONTH}`)).body;
    const { cost } = data.find((row: Row) => row['key_name'] === 'web');
    const row = page.getByRole('row', { name: /^web / });
    await row.getByText(`${money(cost)} of $10.00, ${percent(Number(cost) / 10)}`).waitFor();
    await page
      .getByRole('row', { name: /^owner / })
      .getByText('no limit')
      .waitFor();
    const lines = await csvOf(page);
    expect(lines[0]).toContain('spent_of_month_usd,limit_of_month_usd,cost_usd,share');
    const saved = lines.find((line) => line.startsWith('web,')) ?? '';
    expect(saved.split(',').slice(6, 9)).toEqual([
      String(Number(cost)),
      '10',
      String(Number(cost)),
    ]);
    const unknown = lines.find((line) => line.startsWith('lab,')) ?? '';
    expect(unknown.split(',').slice(-2)).toEqual(['', '']);
  });

  it('follows a value to its requests, and names the command that tells the same', async () => {
    const page = await open('?by=conversation');
    await page.getByText(`gateway usage --by conversation --month ${MONTH}`).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'talk-1' }).click();
    await page.waitForURL(/conversation%3Atalk-1|conversation:talk-1/);
    await expect
      .poll(() => page.locator('[role=row][id^=row-]').count(), { timeout: 30_000 })
      .toBe(2);
  });

  it('shows a key without admin its own organization, its limit and its budgets', async () => {
    const { page } = visitor;
    await forget(visitor);
    isSignedIn = false;
    const scopes = ['inference', 'account'];
    const made = await shop.admin('POST', '/admin/v1/keys', { name: 'reader', scopes });
    await signIn(page, shop.url, made.body.value);
    await page.goto(`${shop.url}/console/costs`);
    await page.getByText(`gateway usage --by model --month ${MONTH} --own`).waitFor();
    await page.locator('dl.totals').getByText('of $50.00').waitFor();
    await page.getByRole('table', { name: 'Budgets' }).getByText('$20.00').waitFor();
    expect(await page.getByRole('option', { name: 'Organization' }).count()).toBe(0);
  });
});

/** The shop, sums of labels and tags, and a model whose price nobody knows. */
function toConfig({ baseUrl }: FakeVendor): object {
  const own = { name: 'own', type: 'custom', base_url: baseUrl, auth: { type: 'none' } };
  return {
    ...SHOP,
    server: { ...SHOP.server, usage: { labels: ['team'], tags: ['feature'] } },
    providers: [...SHOP.providers, own],
    models: [
      ...SHOP.models,
      { name: 'own/unknown', routes: [{ provider: 'own', upstream_model: 'up' }] },
    ],
  };
}

/** Requests with a value of every dimension, and limits to hold them against. */
async function spend(shop: Shop): Promise<void> {
  const makeKey = async (name: string, team: string): Promise<{ id: string; value: string }> =>
    (await shop.admin('POST', '/admin/v1/keys', { name, labels: { team } })).body;
  const [web, lab] = [await makeKey('web', 'blue'), await makeKey('lab', 'lab')];
  const headers = { 'x-gateway-conversation': 'talk-1', 'x-gateway-tags': 'feature=search' };
  const asked = { key: web.value, headers, body: { user: 'ada' } };
  await shop.chat('openai/gpt-5-mini', asked);
  await shop.chat('own/unknown', asked);
  await shop.chat('team/fast', { ...asked, headers: { 'x-gateway-conversation': 'talk-2' } });
  await shop.chat('own/unknown', { key: lab.value });
  await setLimits(shop, web.id);
  const key = shop.ownerKey;
  const services = await shop.call('GET', '/v1/endpoints', { key });
  await shop.call('POST', services.body.data[0].urls.rest, { body: { input: 'Hello?' } });
  const schedules = await shop.call('GET', '/v1/deployments', { key });
  await shop.call('POST', `/v1/deployments/${schedules.body.data[0].id}/run`, { key, body: {} });
  await eventually(async () => {
    const { data } = (await shop.admin('GET', '/admin/v1/usage?group_by=service,schedule')).body;
    const isTold = (name: string): boolean => data.some((row: Row) => row[name] !== null);
    return isTold('service') && isTold('schedule');
  });
}

/** Limits come last: under one, nothing of unknown price is served. */
async function setLimits(shop: Shop, key: string): Promise<void> {
  const toLimit = (month: string) => ({ spending_limit: { month } });
  await shop.admin('PATCH', `/admin/v1/keys/${key}`, toLimit('10'));
  const own = await ownOrganization(shop);
  await shop.admin('PATCH', `/admin/v1/organizations/${own}`, toLimit('50'));
  await shop.admin('POST', '/admin/v1/budgets', { name: 'all', amount: '20', per: 'month' });
}

async function ownOrganization(shop: Shop): Promise<string> {
  return (await shop.admin('GET', '/admin/v1/organizations')).body.data[0].id;
}

const COLUMNS = ['name', 'requests', 'failed', 'input', 'output', 'unpriced'];

/** Cells of a table of costs by the name of their column. */
async function linesOf(table: Locator): Promise<Record<string, string>[]> {
  const rows = await table.locator('tbody tr').all();
  const cells = await Promise.all(rows.map((row) => row.locator('td').allTextContents()));
  return cells.map((texts) => ({
    ...Object.fromEntries(COLUMNS.map((name, index) => [name, texts[index] ?? ''])),
    cost: texts.at(-3) ?? '',
  }));
}

async function csvOf(page: Page): Promise<string[]> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as CSV' }).click();
  const text = await readFile(await (await download).path(), 'utf8');
  return text.trimEnd().split('\r\n');
}

/** Names that a file holds, in its order. */
async function savedBy(page: Page): Promise<string[]> {
  return (await csvOf(page)).slice(1).map((line) => line.split(',')[0] ?? '');
}
