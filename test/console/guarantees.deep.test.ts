import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CALLS } from '../../src/console/api/calls.ts';
import { dateTime } from '../../src/console/logic/format.ts';
import { operationsOf } from '../e2e/api/openapi-checker.ts';
import { verifies } from '../requirements.ts';
import { freePort } from '../store/support/free-port.ts';
import { newDirectory, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { BROWSER, fillIn, forget, openBrowser, signIn, visit } from './support/browser.ts';
import type { Visitor } from './support/browser.ts';
import { countStreams } from './support/count-streams.ts';
import { PAGE_CASES, follow, openByKeys } from './support/page-cases.ts';
import { SHOP, startShop, trade } from './support/shop.ts';
import type { Shop } from './support/shop.ts';

const BUILT = fileURLToPath(new URL('../../dist/console/', import.meta.url));
const SECRETS = ['sk-first-0123456789abcdef', 'sk-second-0123456789abcdef'];

/** Titles of the navigation, without their keys. */
async function titlesOf(page: Page): Promise<string[]> {
  const pages = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  await pages.first().waitFor();
  return (await pages.allTextContents()).map((text) => text.replace(/g .$/, ''));
}

const rowOf = (page: Page, id: string) => page.locator(`[id="row-${id}"]`);

/** Status of a call that the signed-in page makes. */
function statusIn(page: Page, path: string): Promise<number> {
  return page.evaluate(async (at) => (await fetch(`/console/api${at}`)).status, path);
}

const SOURCES = fileURLToPath(new URL('../../src/console/', import.meta.url));
/** The two places that speak to the gateway: calls, and streams that tabs share. */
const SPEAKERS = ['api/call.ts', 'stream/browser-connection.ts'];
/** Ways to speak that browsers have. */
const SPEAKS = /\bfetch\(|XMLHttpRequest|EventSource|WebSocket|sendBeacon/;
const CLIENT_SCOPES = ['inference', 'models', 'account'];

describe.skipIf(BROWSER === undefined)('the console', () => {
  let shop: Shop;
  /** One who stays signed in as the owner, and one who signs in by other keys. */
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

  async function openBy(key: string, url = shop.url): Promise<Page> {
    await forget(guest);
    await signIn(guest.page, url, key);
    return guest.page;
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

  /** A file as it was built, under a policy by which the browser loads nothing from elsewhere. */
  async function isFromPackage(path: string): Promise<void> {
    const answer = await fetch(shop.url + path);
    const policy = answer.headers.get('content-security-policy');
    expect(policy, path).toMatch(/default-src 'self'.*connect-src 'self'/);
    expect(policy).not.toMatch(/https?:|\*/);
    const name = path.includes('.') ? path.slice('/console/'.length) : 'index.html';
    const built = await readFile(join(BUILT, name));
    expect(Buffer.from(await answer.arrayBuffer()).equals(built), path).toBe(true);
  }

  it(
    verifies(
      'console.served',
      'console.api-only',
      'is served at /console by the gateway itself, every file from the package, asks no other host, and makes the calls of its typed client alone, which the OpenAPI documents have',
    ),
    async () => {
      const counter = await countStreams(shop.url);
      onTestFinished(() => counter.close());
      const services = await shop.call('GET', '/v1/endpoints', { key: shop.ownerKey });
      const body = { input: 'Where is order A-17?' };
      await shop.call('POST', services.body.data[0].urls.rest, { body });
      const known = (await documented()).map(withoutNames);
      expect(CALLS.filter((call) => !known.includes(withoutNames(call)))).toEqual([]);

      const files = await readdir(SOURCES, { recursive: true });
      const modules = files.filter((name) => /\.tsx?$/.test(name));
      const texts = await Promise.all(modules.map((name) => readFile(join(SOURCES, name), 'utf8')));
      const speakers = modules.filter((_name, index) => SPEAKS.test(texts[index] ?? ''));
      expect(speakers.toSorted()).toEqual(SPEAKERS);

      const hosts = new Set<string>();
      const served = new Set<string>();
      const note = (sent: Request): void => {
        const { origin, pathname } = new URL(sent.url());
        hosts.add(origin);
        if (!pathname.startsWith('/console/api/')) served.add(pathname);
      };
      await forget(guest);
      guest.context.on('request', note);
      await signIn(guest.page, counter.url, shop.ownerKey);
      await useAll(guest.page);
      guest.context.off('request', note);
      expect([...hosts]).toEqual([counter.url]);
      for (const { path } of PAGE_CASES) served.add(`/console/${path}`);
      expect(served.size).toBeGreaterThan(20);
      for (const path of served) await isFromPackage(path);

      const made = { name: 'reader', scopes: CLIENT_SCOPES };
      const reader = await shop.admin('POST', '/admin/v1/keys', made);
      const page = await openBy(reader.body.value, counter.url);
      for (const path of ['requests?group=conversation', 'costs', 'keys', 'playground'])
        await follow(page, path);

      const calls = [...new Set(counter.asked)].filter((call) => !call.endsWith(' /session'));
      const patterns = CALLS.map(toPattern);
      expect(calls.filter((call) => !patterns.some((one) => one.test(call)))).toEqual([]);
      const used = CALLS.filter((call) => calls.some((one) => toPattern(call).test(one)));
      expect(used.length).toBeGreaterThan(35);
    },
  );

  /** Goes to every page and does what can be done there. */
  async function useAll(page: Page): Promise<void> {
    for (const one of PAGE_CASES) {
      await openByKeys(page, one);
      await one.act(page);
      for (const view of one.views ?? []) await follow(page, view);
    }
    await follow(page, 'keys');
    await page.getByRole('link', { name: 'typed' }).click();
    const detail = page.getByRole('complementary');
    await detail.getByRole('button', { name: 'Rotate' }).click();
    await detail.getByText('Value, shown only now').waitFor();
    await detail.getByRole('button', { name: 'Revoke' }).click();
    await detail.getByRole('button', { name: 'Revoke typed now' }).click();
    await detail.getByText('revoked').waitFor();
    await follow(page, 'sessions');
    await page.locator('tbody a').first().click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('log').getByText('done', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Archive' }).click();
    await page.getByPlaceholder('The Session is archived').waitFor();
    await follow(page, 'schedules');
    for (const name of ['Run now', 'Pause', 'Unpause'])
      await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await follow(page, 'services');
    await page.getByRole('link', { name: 'Order desk' }).click();
    await page.getByPlaceholder('Message').fill('Hello');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/sessions\/sess_/);
    await follow(page, 'playground?model=openai/gpt-5-mini');
    for (const name of ['Responses', 'Generate content'])
      await page.getByRole('button', { name }).click();
    for (const isStreamed of [false, true]) {
      await page.getByLabel('Stream').setChecked(isStreamed);
      await page.getByRole('button', { name: 'Send' }).click();
      for (const answer of await page.locator('.answer').all())
        await answer.getByText(isStreamed ? 'data: ' : 'You said').waitFor();
    }
  }

  it(
    verifies('console.audit', 'shows who changed what, when, from where, old and new, no secret'),
    async () => {
      const names = ['auditor', 'acme'];
      const made = await shop.admin('POST', '/admin/v1/keys', {
        name: names[0],
        scopes: ['admin'],
      });
      const key = made.body.value;
      const call = (method: string, path: string, body: object) =>
        shop.call(method, path, { key, body, headers: { 'user-agent': 'shell/1.0' } });
      const [first, second] = SECRETS;
      const provider = { name: names[1], type: 'openai', api_key: first };
      await call('POST', '/admin/v1/providers', provider);
      const change = { api_key: second, base_url: 'https://llm.example/v1' };
      const changed = await call('PATCH', '/admin/v1/providers/acme', change);
      expect(changed.status).toBe(200);
      const request = changed.headers.get('x-request-id');
      const { data } = (await shop.admin('GET', `/admin/v1/audit?request=${request}`)).body;

      const { page } = owner;
      await follow(page, 'audit');
      const row = page.getByRole('row', { name: /auditor key update provider acme/ });
      await row.getByText('127.0.0.1 · shell/1.0').waitFor();
      expect(await row.locator('time').getAttribute('title')).toBe(
        dateTime(Date.parse(data[0].at)),
      );
      await row.getByRole('link', { name: 'provider acme' }).click();
      const detail = page.getByRole('complementary', { name: `Entry ${data[0].id}` });
      for (const text of ['auditor', 'update provider acme', '127.0.0.1 · shell/1.0'])
        await detail.getByRole('definition').filter({ hasText: text }).first().waitFor();
      const changes = detail.getByRole('table', { name: 'Changes' });
      await changes.getByRole('row', { name: /base_url.*https:\/\/llm\.example\/v1/ }).waitFor();
      await changes.getByRole('row', { name: 'api_key [secret] [secret]' }).waitFor();
      const text = await page.content();
      for (const secret of [...SECRETS, key]) expect(text).not.toContain(secret);
    },
  );

  it(
    verifies(
      'console.scopes',
      'shows a key without admin its own organization alone, what its role allows, and the API refuses the rest',
    ),
    async () => {
      const other = await shop.admin('POST', '/admin/v1/organizations', { name: 'tenant' });
      const scopes = ['inference', 'models', 'account'];
      const make = async (name: string, part: object): Promise<string> =>
        (await shop.admin('POST', '/admin/v1/keys', { name, scopes, ...part })).body.value;
      const key = await make('tenant-key', { organization: other.body.id });
      const own = (await shop.chat('lab/new', { key })).headers.get('x-request-id') ?? '';
      const foreign = (await shop.chat('team/fast')).headers.get('x-request-id') ?? '';

      const page = await openBy(key);
      expect(await titlesOf(page)).toEqual(['Requests', 'Costs', 'Keys', 'Playground']);
      await page.locator(`[id="row-${own}"]`).waitFor();
      expect(await page.locator('[role=row][id^=row-]').count()).toBe(1);
      await follow(page, 'costs?by=key');
      const costs = page.getByRole('table', { name: 'Costs by Key' });
      await costs.getByRole('row', { name: /^tenant-key 1 / }).waitFor();
      expect(await costs.locator('tbody tr').count()).toBe(1);
      await page.goto(`${shop.url}/console/keys`);
      await page.getByRole('definition').filter({ hasText: 'tenant-key' }).waitFor();
      expect(await page.getByText('client', { exact: true }).count()).toBe(0);

      const statusOf = (path: string): Promise<number> => statusIn(page, path);
      for (const name of ['requests', 'requests/events', 'usage', 'keys', 'audit', 'status'])
        expect(await statusOf(`/admin/v1/${name}`), name).toBe(403);
      expect(await statusOf(`/v1/account/executions/${own}`)).toBe(200);
      expect(await statusOf(`/v1/account/executions/${foreign}`)).toBe(404);
      expect(await statusOf('/v1/sessions')).toBe(403);
      await page.goto(`${shop.url}/console/audit`);
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      expect(await page.getByText('team/fast').count()).toBe(0);

      // A role takes away from what the scopes show.
      const admin = { scopes: ['admin', 'account', 'inference'] };
      const books = await openBy(await make('books', { ...admin, role: 'billing' }));
      await books.waitForURL(/console\/costs/);
      expect(await titlesOf(books)).toEqual(['Costs', 'Keys']);
      await books.getByRole('heading', { name: 'Costs' }).waitFor();
      expect(await statusIn(books, '/admin/v1/requests')).toBe(403);
      expect(await statusIn(books, '/admin/v1/usage')).toBe(200);
      const viewer = await openBy(await make('guest', { ...admin, role: 'viewer' }));
      const seen = ['Requests', 'Costs', 'Explain', 'Keys', 'Configuration', 'Audit'];
      expect(await titlesOf(viewer)).toEqual(seen);
      await follow(viewer, 'keys');
      await viewer.getByText('tenant-key').first().waitFor();
      expect(await viewer.getByRole('button', { name: 'New key' }).count()).toBe(0);
    },
  );

  /** An organization with a key, and the calls of that. */
  async function newOrganization(name: string) {
    const { body } = await shop.admin('POST', '/admin/v1/organizations', { name });
    const made = { name: `${name}-key`, organization: body.id, scopes: CLIENT_SCOPES };
    const key: string = (await shop.admin('POST', '/admin/v1/keys', made)).body.value;
    const chat = async (): Promise<string> =>
      (await shop.chat('lab/new', { key })).headers.get('x-request-id') ?? '';
    return { key, chat };
  }

  it('ends a sign-in by a later one in the same browser, which sees none of its rows', async () => {
    const [one, two] = [await newOrganization('one'), await newOrganization('two')];
    await forget(guest);
    const { context, page: former } = guest;
    const [ofOne, ofTwo] = [await one.chat(), await two.chat()];
    // It asks for a key before the other one is signed in.
    const later = await context.newPage();
    onTestFinished(() => later.close());
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

  it('shows more keys than the gateway lists at a time', async () => {
    const names = Array.from({ length: 101 }, (_, index) => `many-${index}`);
    await Promise.all(names.map((name) => shop.admin('POST', '/admin/v1/keys', { name })));
    const { page } = owner;
    await follow(page, 'keys');
    for (const name of ['owner', 'many-0', 'many-100'])
      await page.getByRole('link', { name, exact: true }).waitFor();
  });

  it(
    verifies(
      'console.reconnect',
      'shows a gateway that is killed as cut off, goes on when it is back, without gap or duplicate',
    ),
    async () => {
      const [port, directory] = [await freePort(), await newDirectory()];
      const config = { ...SHOP, server: { ...SHOP.server, listen: { port } } };
      const killed = await startShop({ binary: true, config, directory });
      let running: TestGateway = killed;
      onTestFinished(async () => {
        await running.stop();
        await rm(directory, { recursive: true, force: true });
      });
      await trade(killed, 20);
      const visitor = await visit(await openBrowser());
      onTestFinished(() => visitor.context.close());
      const { page } = visitor;
      // Tall enough for every row to have a node.
      await page.setViewportSize({ width: 1_440, height: 4_000 });
      await signIn(page, killed.url, killed.ownerKey);
      await page.getByText('live', { exact: true }).waitFor();
      await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));

      const asked = Array.from({ length: 20 }, () =>
        killed.chat('openai/gpt-5-mini', { key: killed.ownerKey }).catch(() => undefined),
      );
      await asked[0];
      killed.child?.kill('SIGKILL');
      await Promise.all(asked);
      await page.getByText('cut off', { exact: true }).waitFor();

      running = await startGateway(config, { binary: true, directory });
      await page.getByText('live', { exact: true }).waitFor();
      for (let index = 0; index < 15; index++)
        await running.chat('lab/new', { key: killed.ownerKey });
      const listed = async (): Promise<string[]> => {
        const { data } = (await running.admin('GET', '/admin/v1/requests?limit=1000')).body;
        return data.map(({ id }: { id: string }) => `row-${id}`);
      };
      const shown = (): Promise<string[]> =>
        page.locator('[role=row][id^=row-]').evaluateAll((rows) => rows.map(({ id }) => id));
      await expect
        .poll(async () => (await shown()).join() === (await listed()).join(), { timeout: 60_000 })
        .toBe(true);
      const ids = await shown();
      expect(ids.length).toBeGreaterThanOrEqual(36);
      expect(new Set(ids).size).toBe(ids.length);
      expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true);
    },
  );
});

const withoutNames = (call: string): string => call.replace(/\{\w+\}/g, '{}');

function toPattern(call: string): RegExp {
  return new RegExp(`^${call.replace(/\{\w+\}/g, '[^ ]+')}$`);
}
