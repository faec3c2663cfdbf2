import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';
import { BROWSER, NO_BROWSER, forget, openBrowser, signIn, visit } from './support/browser.ts';
import type { Visitor } from './support/browser.ts';
import { countStreams } from './support/count-streams.ts';
import { follow, isThere } from './support/page-cases.ts';
import { startShop, trade } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

if (BROWSER === undefined) process.stderr.write(`\n!! ${NO_BROWSER}\n\n`);

it(verifies('console.suite-loud', 'has a browser, or says so; fails in CI without one'), () => {
  if (process.env['CI']) expect(BROWSER, NO_BROWSER).toBeDefined();
  expect(NO_BROWSER).toContain('apt-get install');
});

/** Pages, and what they show once all that they ask for is there. */
const ONE_REQUEST: Readonly<Record<string, readonly string[]>> = {
  requests: ['[role=row][id^=row-]'],
  costs: ['dl.totals', 'main tbody tr'],
  sessions: ['.empty'],
  keys: ['main tbody tr'],
  schedules: ['main tbody tr'],
  services: ['a:text("Order desk")', 'tbody td:text("desk")'],
  playground: ['#play-models option'],
  audit: ['main tbody tr'],
  'configuration?kind=models': ['main tbody tr'],
  'explain?model=team/fast': ['main ol li, main tbody tr', 'dt:text("Version")'],
  'costs?by=conversation': ['dl.totals', 'main tbody tr'],
};

describe.skipIf(BROWSER === undefined)('the console', () => {
  let shop: Shop;
  /** One who stays signed in as the owner, and one whom each test finds signed out. */
  let owner: Visitor;
  let guest: Visitor;

  beforeAll(async () => {
    const [browser, started] = await Promise.all([openBrowser(), startShop()]);
    shop = started;
    [owner, guest] = await Promise.all([visit(browser), visit(browser)]);
    await trade(shop);
    await signIn(owner.page, shop.url, shop.ownerKey);
  });
  afterEach(() => {
    owner?.check();
    guest?.check();
  });
  afterAll(async () => {
    await Promise.all([owner?.end(), guest?.end()]);
    await shop?.stop();
  });

  async function open(path = 'requests'): Promise<Visitor> {
    const isOpen = owner.page.url().startsWith(`${shop.url}/console/`);
    if (isOpen) await follow(owner.page, path);
    else await owner.page.goto(`${shop.url}/console/${path}`);
    return owner;
  }

  async function openSignedOut(): Promise<Visitor> {
    await forget(guest);
    return guest;
  }

  it('signs in by a key that the page keeps nowhere', async () => {
    const { page, context } = await openSignedOut();
    await signIn(page, shop.url, shop.ownerKey);
    const kept = await page.evaluate(() =>
      JSON.stringify([
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        document.cookie,
        location.href,
      ]),
    );
    expect(kept).not.toContain('sk-');
    const [cookie] = await context.cookies(`${shop.url}/console/api`);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
  });

  it('asks for all that a page shows by one request', async () => {
    const counter = await countStreams(shop.url);
    onTestFinished(() => counter.close());
    // Cookies do not tell ports apart.
    const { page } = owner;
    await page.goto(`${counter.url}/console/playground`);
    await isThere(page, 'Playground');
    // A load asks for the same as a link, and costs several times as much. A view is loaded: the page
    // before it would ask for what its changed address says.
    const [views, paths] = [true, false].map((isView) =>
      Object.keys(ONE_REQUEST).filter((path) => path.includes('?') === isView),
    ) as [string[], string[]];
    const loaded = [...views, ...inTurn('page that is loaded', paths)];
    for (const [path, shown] of Object.entries(ONE_REQUEST)) {
      const former = ['/session', ...counter.requests];
      counter.requests.length = 0;
      if (loaded.includes(path)) await page.goto(`${counter.url}/console/${path}`);
      else await follow(page, path);
      for (const part of shown) await page.locator(part).first().waitFor({ state: 'attached' });
      // The session is looked up, and lists that are looked at again are the same request.
      const made = new Set(counter.requests.filter((target) => !former.includes(target)));
      expect([...made], path).toEqual([expect.any(String)]);
    }
  });

  it('says what the command line would say to a wrong key', async () => {
    const visitor = await openSignedOut();
    await visitor.page.goto(`${shop.url}/console`);
    await visitor.page.getByLabel('API key').fill('sk-wrong');
    await visitor.page.getByRole('button', { name: 'Sign in' }).click();
    expect(await visitor.page.getByRole('alert').textContent()).toMatch(/API key/);
  });

  it('signs in by a link once, and takes it out of the address', async () => {
    const { body } = await shop.admin('POST', '/admin/v1/console/links', {});
    const visitor = await openSignedOut();
    await visitor.page.goto(shop.url + body.path);
    await visitor.page.getByRole('navigation', { name: 'Pages' }).waitFor();
    expect(visitor.page.url()).not.toContain('link=');
  });

  it('asks for a sign-in again when the key is revoked', async () => {
    const made = await shop.admin('POST', '/admin/v1/keys', { name: 'short', scopes: ['admin'] });
    const visitor = await openSignedOut();
    await signIn(visitor.page, shop.url, made.body.value);
    await visitor.page.getByText('live', { exact: true }).waitFor();
    await shop.admin('POST', `/admin/v1/keys/${made.body.id}/revoke`, {});
    await visitor.page.getByLabel('API key').waitFor();
    await visitor.page.getByRole('alert').waitFor();
  });

  it('takes keys in the very moment in which rows appear', async () => {
    const { context } = owner;
    const page = await context.newPage();
    onTestFinished(() => page.close());
    await page.addInitScript(() => {
      const observer = new MutationObserver(() => {
        if (!document.querySelector('[role=row][id^=row-]')) return;
        observer.disconnect();
        for (const key of ['j', 'Enter'])
          window.dispatchEvent(new KeyboardEvent('keydown', { key }));
      });
      observer.observe(document, { childList: true, subtree: true });
    });
    await page.goto(`${shop.url}/console/requests`);
    await page.getByRole('complementary').waitFor();
  });

  it('goes by the keyboard: pages, palette, rows, and back', async () => {
    const { page } = await open();
    await page.locator('[role=row][id^=row-]').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').waitFor();
    expect(page.url()).toContain('open=req_');
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      'Filter',
    );
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Costs' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Page or command' }).fill('explain');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Explain' }).waitFor();
  });

  it(
    verifies(
      'console.sessions.confirm',
      'answers the question of an agent on the timeline, sends a message and archives',
    ),
    async () => {
      const services = await shop.call('GET', '/v1/endpoints', { key: shop.ownerKey });
      const run = await shop.call('POST', services.body.data[0].urls.rest, {
        body: { input: 'Where is order A-17?' },
      });
      const { page } = await open(`sessions/${run.body.session_id}`);
      await page.getByText('May the agent call find_order?').waitFor();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('log').getByText('done', { exact: true }).waitFor();
      await page.getByRole('log').getByText('Agent', { exact: true }).waitFor();
      await page.getByLabel('Message').fill('Thank you.');
      await page.getByRole('button', { name: 'Send' }).click();
      await page
        .getByRole('region', { name: 'Turn 2' })
        .getByText('Agent', { exact: true })
        .waitFor();
      const denied = await shop.call('POST', services.body.data[0].urls.rest, {
        body: { input: 'And order A-17?' },
      });
      await follow(page, `sessions/${denied.body.session_id}`);
      await page.getByRole('button', { name: 'Deny' }).click();
      await page.getByRole('log').getByText('denied', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Interrupt' }).waitFor();
      // A turn that begins disables the button, and would swallow a click.
      await page
        .getByRole('region', { name: 'Turn 1' })
        .getByText(/2 model requests .* \d+(\.\d+)? m?s/)
        .waitFor();
      await page.getByRole('button', { name: 'Archive' }).click();
      await page.getByPlaceholder('The Session is archived').waitFor();
    },
  );

  it(
    verifies('console.keys', 'makes a key that works, shows it once, rotates and revokes it'),
    async () => {
      const { page } = await open('keys?new=1');
      await page.getByLabel('Name').fill('from-the-page');
      await page.getByLabel('Limit of a day, USD').fill('5');
      await page.getByRole('button', { name: 'Create key' }).click();
      const detail = page.getByRole('complementary');
      await detail.getByText('Value, shown only now').waitFor();
      const value = (await detail.locator('.value code').textContent()) ?? '';
      expect((await shop.chat('lab/new', { key: value })).status).toBe(200);
      await detail.getByText('gateway connect claude --run').waitFor();
      await page.reload();
      await page.getByRole('link', { name: 'from-the-page' }).click();
      expect(await page.content()).not.toContain(value);
      await detail.getByText('Last use').waitFor();
      await detail.getByRole('row', { name: /Today .*\$5\.00/ }).waitFor();
      await detail.getByRole('button', { name: 'Rotate' }).click();
      await detail.getByText('Value, shown only now').waitFor();
      await detail.getByRole('button', { name: 'Revoke' }).click();
      await detail.getByRole('button', { name: 'Revoke from-the-page now' }).click();
      await detail.getByText('revoked').waitFor();
      expect((await shop.chat('lab/new', { key: value })).status).toBe(401);
    },
  );

  it(verifies('console.explain', 'explains the order of routes with health and cost'), async () => {
    // So often in a row that the failing route is left alone for a while.
    for (let index = 0; index < 5; index++) await shop.chat('team/fast');
    const { page } = await open('explain?model=team/fast');
    const plan = (await shop.admin('GET', '/admin/v1/routing?model=team/fast')).body;
    const table = page.getByRole('table').first();
    await table.getByRole('row', { name: /^1 / }).waitFor();
    for (const [index, { provider }] of plan.candidates.entries())
      await table.getByRole('row', { name: new RegExp(`^${index + 1} ${provider}`) }).waitFor();
    await table.getByText(/cooled down, ends in/).waitFor();
    await table.getByText('$100.00').first().waitFor();
    await page.getByRole('button', { name: 'west fails' }).click();
    await page.waitForURL(/without=west/);
  });

  it(
    verifies('console.schedules', 'shows next times in both zones, runs now and pauses'),
    async () => {
      const { page } = await open('schedules?zone=UTC');
      const row = page.getByRole('row', { name: /morning-report/ });
      await row.getByText('07:00').waitFor();
      await row.getByRole('button', { name: 'Run now' }).click();
      await page.getByRole('status').getByText('Ran morning-report').waitFor();
      await page.locator('a.run.completed').first().waitFor();
      await row.getByRole('button', { name: 'Pause' }).click();
      await row.getByText('paused', { exact: true }).waitFor();
      const listed = await shop.call('GET', '/v1/deployments', { key: shop.ownerKey });
      expect(listed.body.data[0].paused).toBe(true);
      await row.getByRole('button', { name: 'Unpause' }).click();
      await row.getByText('active').waitFor();
    },
  );

  it(
    verifies('console.config.read-only', 'plans pasted files, and makes a patch of an edit'),
    async () => {
      const { page } = await open('configuration?kind=models');
      await page.getByRole('button', { name: 'lab/new' }).click();
      const detail = page.getByRole('complementary');
      await detail.getByText('owned by namespace shop, read only here').waitFor();
      await detail.getByLabel('lab/new as YAML').click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type('  description: New');
      await detail.getByRole('button', { name: 'Copy as patch' }).waitFor();
      await detail.getByText('+  description: New').waitFor();
      await follow(page, 'configuration?kind=files');
      await page.getByLabel('gateway.yaml', { exact: true }).click();
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      await page.keyboard.type('{version: 1, modells: []}');
      await page.getByRole('button', { name: 'Plan' }).click();
      await page
        .getByText(/did you mean|unknown field/)
        .first()
        .waitFor();
      await page.getByLabel('gateway.yaml', { exact: true }).click();
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      await page.keyboard.type(
        '{version: 1, namespace: other, providers: [{name: north, type: mock}]}',
      );
      await page.getByRole('button', { name: 'Plan' }).click();
      await page.getByRole('row', { name: /create provider north/ }).waitFor();
    },
  );

  it(
    verifies('console.playground', 'sends pictures and tools and shows the wire bytes'),
    async () => {
      const { page } = await open('playground?model=openai/gpt-5-mini');
      await page
        .getByLabel('Tools, JSON')
        .fill('[{"name":"get_weather","parameters":{"type":"object"}}]');
      const pixel = Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      );
      await page
        .getByLabel('Picture')
        .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: pixel });
      await page.getByRole('button', { name: 'Responses' }).click();
      await page.getByRole('button', { name: 'Send' }).click();
      for (const name of ['Chat completions', 'Responses', 'Messages']) {
        const pane = page.getByRole('region', { name });
        await pane.getByText('200', { exact: true }).waitFor();
        await pane.getByText('get_weather').first().waitFor();
        await pane.getByText('iVBORw0KGgo').first().waitFor();
        await pane.locator('.answer').getByText('You said').waitFor();
      }
    },
  );

  it(
    verifies(
      'console.one-stream',
      'shares one stream among ten tabs or fewer, and closes it with them',
    ),
    async () => {
      const counter = await countStreams(shop.url);
      onTestFinished(() => counter.close());
      const { page, context } = owner;
      await page.goto(`${counter.url}/console`);
      const count = Math.max(...inTurn('tabs that share a stream', [10, 4, 4]));
      const openTab = async (): Promise<Page> => {
        const tab = await context.newPage();
        await tab.goto(`${counter.url}/console/requests`, { waitUntil: 'commit' });
        return tab;
      };
      const tabs = [page, ...(await Promise.all(Array.from({ length: count - 1 }, openTab)))];
      for (const tab of tabs) await tab.getByText('live', { exact: true }).waitFor();
      const { headers } = await shop.chat('lab/new');
      for (const tab of tabs)
        await tab.locator(`[id="row-${headers.get('x-request-id')}"]`).waitFor();
      expect(counter.open()).toBe(1);
      expect(counter.most()).toBe(1);
      for (const tab of tabs.slice(1)) await tab.close();
      await page.evaluate(() => {
        Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
        document.dispatchEvent(new Event('visibilitychange'));
      });
      await expect.poll(() => counter.open(), { timeout: 20_000 }).toBe(0);
    },
  );

  it('shows the newest Sessions, says that there are older ones, and shows those', async () => {
    const key = shop.ownerKey;
    const agents = await shop.call('GET', '/v1/agents', { key });
    const begin = async (title: string): Promise<void> => {
      const body = { agent: agents.body.data[0].id, title };
      expect((await shop.call('POST', '/v1/sessions', { key, body })).status).toBeLessThan(300);
    };
    await begin('the oldest of them');
    for (let round = 0; round < 10; round++)
      await Promise.all(Array.from({ length: 10 }, () => begin('a later one')));
    const { page } = await open('sessions');
    await page.getByRole('link', { name: 'a later one' }).first().waitFor();
    await page.getByText('100 Sessions, and older ones').waitFor();
    const oldest = page.getByRole('link', { name: 'the oldest of them' });
    expect(await oldest.count()).toBe(0);
    await page.getByRole('button', { name: 'Show older' }).press('Enter');
    await oldest.waitFor();
    expect(await page.getByRole('link', { name: 'a later one' }).count()).toBe(100);
    await page.getByRole('button', { name: 'Show older' }).waitFor({ state: 'detached' });
  });
});
