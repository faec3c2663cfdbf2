import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { money } from '../../src/console/logic/format.ts';
import { verifies } from '../requirements.ts';
import { eventually } from '../support/gateway.ts';
import { freePort } from '../store/support/free-port.ts';
import { BROWSER, openBrowser, signIn, visit } from './support/browser.ts';
import type { Visitor } from './support/browser.ts';
import { countStreams } from './support/count-streams.ts';
import { SHOP, startShop } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

/** Rows that the page begins with. */
const FIRST_ROWS = 200;

/** Key of a provider that a request fails at. */
const SECRET = 'sk-provider-0123456789abcdef';

/** The shop, and a model that answers at its third route, which takes less than its client says. */
function toConfig(port: number): object {
  const auth = { type: 'bearer' };
  const base = `http://127.0.0.1:${port}/v1`;
  const gone = {
    name: 'gone',
    type: 'custom',
    base_url: base,
    auth,
    api_key: '${secret:env:GONE_KEY}',
  };
  const routes = ['gone', 'east', 'west'].map((provider, priority) => ({
    provider,
    upstream_model: provider === 'gone' ? 'gone' : 'lossy',
    priority,
    protocols: ['chat'],
    mapping: 'translated',
  }));
  const pricing = { input: '100', output: '500' };
  return {
    ...SHOP,
    providers: [...SHOP.providers, gone],
    models: [...SHOP.models, { name: 'team/lossy', pricing, routes }],
  };
}

describe.skipIf(BROWSER === undefined)('the Requests page', () => {
  let visitor: Visitor;
  let shop: Shop;

  beforeAll(async () => {
    const config = toConfig(await freePort());
    const started = startShop({ config, env: { GONE_KEY: SECRET } });
    [visitor, shop] = await Promise.all([visit(await openBrowser()), started]);
    await signIn(visitor.page, shop.url, shop.ownerKey);
  });
  afterEach(() => visitor?.check());
  afterAll(async () => {
    await visitor?.end();
    await shop?.stop();
  });

  async function open(path: string): Promise<Page> {
    await visitor.page.goto(shop.url + path);
    return visitor.page;
  }

  it(
    verifies(
      'console.requests.live',
      'shows requests as they come by what its address says, with few nodes and one request at 200 a second',
    ),
    async () => {
      await shop.chat('lab/new');
      await shop.chat('lab/none');
      const page = await open('/console/requests?q=model:lab/new&columns=time,model,cost,id');
      const rows = page.locator('[role=row][id^=row-]');
      const rowOf = (id: string | null) => page.locator(`[id="row-${id}"]`);
      await rows.first().waitFor();
      const fresh = await shop.chat('lab/new');
      await shop.chat('openai/gpt-5-mini');
      await rowOf(fresh.headers.get('x-request-id')).waitFor();
      for (const text of await rows.allTextContents()) expect(text).toContain('lab/new');
      expect(await page.getByRole('columnheader').allTextContents()).toEqual([
        'Time',
        'Model',
        'Cost',
        'Request',
      ]);

      await page.getByLabel('Filter').fill('status:404');
      await page.waitForURL(/q=status:404/);
      await page.getByText('lab/none').first().waitFor();
      await page.getByLabel('Filter').fill('NONE');
      await page.waitForURL(/q=NONE/);
      await page.getByText('lab/none').first().waitFor();
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('checkbox', { name: 'Key' }).check();
      await page.waitForURL(/columns=time,key,model,cost,id/);
      await page.keyboard.press('Escape');
      await page.reload();
      await page.getByText('lab/none').first().waitFor();
      expect(await page.getByLabel('Filter').inputValue()).toBe('NONE');
      expect(await page.getByRole('columnheader').count()).toBe(5);

      const counter = await countStreams(shop.url);
      onTestFinished(() => counter.close());
      // Cookies do not tell ports apart: the page is signed in here, too.
      await visitor.page.goto(`${counter.url}/console/requests`);
      await visitor.page.getByText('live', { exact: true }).waitFor();
      await visitor.page.goto(`${counter.url}/console/costs`);
      await visitor.page.locator('dl.totals').waitFor();
      await expect.poll(() => counter.open()).toBe(0);
      // A page that is left asks for nothing more.
      await visitor.page.goto('about:blank');
      counter.asked.length = 0;
      await visitor.page.goto(`${counter.url}/console/requests`);
      await visitor.page.getByText('live', { exact: true }).waitFor();
      for (let second = 0; second < 2; second++)
        await Promise.all(Array.from({ length: 200 }, () => shop.chat('openai/gpt-5-mini')));
      const last = await shop.chat('lab/new');
      await visitor.page.locator(`[id="row-${last.headers.get('x-request-id')}"]`).waitFor();
      const nodes = visitor.page.locator('[role=row][id^=row-]');
      expect(await nodes.count()).toBeLessThan(300);
      // The session is looked up; all rows come by the one stream that tabs share.
      expect(counter.asked.filter((call) => call !== 'GET /session')).toEqual([
        'GET /admin/v1/requests/events',
      ]);
    },
  );

  it(
    verifies(
      'console.requests.waterfall',
      'opens attempts with cause and verdict, times, tokens, reserved and settled money and losses, without secrets',
    ),
    async () => {
      const month = { month: '50' };
      const body = { name: 'limited', spending_limit: month };
      const { value: key } = (await shop.admin('POST', '/admin/v1/keys', body)).body;
      const asked = await shop.call('POST', '/v1/messages', {
        key: '',
        headers: { 'x-api-key': key, 'x-canary': 'header-of-the-client' },
        body: {
          model: 'team/lossy',
          max_tokens: 50,
          top_k: 5,
          messages: [{ role: 'user', content: 'hello' }],
        },
      });
      expect(asked.status, JSON.stringify(asked.body)).toBe(200);
      const id = asked.headers.get('x-request-id') ?? '';
      const record = (await shop.admin('GET', `/admin/v1/requests/${id}`)).body;
      expect(Number(record.reserved)).toBeGreaterThan(Number(record.cost));
      expect(Number(record.cost)).toBeGreaterThan(0);

      const page = await open('/console/requests');
      const data: string[] = [];
      page.on('response', (answer) => {
        if (answer.url().includes('/console/api/'))
          answer.text().then(
            (text) => data.push(text),
            () => 0,
          );
      });
      await page.locator(`[id="row-${id}"]`).click();
      const detail = page.getByRole('complementary', { name: `Request ${id}` });
      const rowOf = (words: RegExp) => detail.getByRole('row', { name: words });
      await rowOf(/^gone gone connect ECONNREFUSED.* next route/).waitFor();
      await rowOf(/^east lossy status_503 .*next route/).waitFor();
      await rowOf(/^west lossy ok .*final/).waitFor();
      const stretches = detail.getByRole('table', { name: 'Stretches of the request' });
      for (const name of ['gateway', 'gone', 'east', 'west'])
        await stretches
          .getByRole('row', { name: new RegExp(name) })
          .first()
          .waitFor();
      const fact = (title: string, text: string) =>
        detail.locator(`dt:text-is("${title}") + dd`).getByText(text, { exact: true }).waitFor();
      await fact('Reserved', money(record.reserved));
      await fact('Settled', money(record.cost));
      await fact('Input', String(record.usage.input_tokens));
      await fact('Output', String(record.usage.output_tokens));
      await detail.getByText('top_k', { exact: true }).waitFor();
      await expect.poll(() => data.some((text) => text.includes(id))).toBe(true);
      for (const text of [await page.content(), ...data])
        for (const secret of [key, SECRET, 'header-of-the-client', shop.ownerKey])
          expect(text).not.toContain(secret);
    },
  );

  it(
    verifies(
      'console.requests.grouped',
      'groups by conversation and hosted Session, with the cost of the whole though a part is loaded',
    ),
    async () => {
      const headers = { 'x-gateway-conversation': 'long-talk' };
      const ask = () => shop.chat('openai/gpt-5-mini', { headers });
      for (let index = 0; index < 5; index++) await ask();
      await Promise.all(Array.from({ length: FIRST_ROWS }, () => shop.chat('lab/new')));
      await ask();
      const services = await shop.call('GET', '/v1/endpoints', { key: shop.ownerKey });
      const run = await shop.call('POST', services.body.data[0].urls.rest, {
        body: { input: 'Hello?' },
      });
      const session = run.body.session_id;

      const page = await open('/console/requests');
      await page.getByRole('button', { name: 'By conversation' }).click();
      await page.waitForURL(/group=conversation/);
      const table = page.getByRole('table', { name: 'Conversations' });
      const shown = table.getByRole('row', { name: /long-talk/ });
      const sums = await shop.admin('GET', '/admin/v1/usage?conversation=long-talk');
      expect(sums.body.data[0].requests).toBe(6);
      await shown.getByRole('cell', { name: '6', exact: true }).waitFor();
      await shown.getByRole('cell', { name: money(sums.body.data[0].cost), exact: true }).waitFor();

      const hosted = table.getByRole('row', { name: new RegExp(session) });
      const whole = await eventually(async () => {
        const found = await shop.admin('GET', `/admin/v1/usage?conversation=${session}`);
        return found.body.data[0] as { cost: string } | undefined;
      });
      await hosted.getByRole('cell', { name: money(whole.cost), exact: true }).waitFor();
      // The whole goes on with the conversation.
      await ask();
      await shown.getByRole('cell', { name: '7', exact: true }).waitFor();
      await hosted.getByRole('link', { name: `Session ${session}` }).click();
      await page.waitForURL(new RegExp(`sessions/${session}`));
      await page.goBack();
      await table.getByRole('button', { name: 'long-talk' }).click();
      await page.waitForURL(/q=conversation:long-talk/);
    },
  );
});
