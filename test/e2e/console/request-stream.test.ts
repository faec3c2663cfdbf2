import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { ask, eventually, startGateway } from '../../support/gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import { signIn } from './console-client.ts';
import { openStream } from './event-stream.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const PATH = '/admin/v1/requests/events';
const CONFIG = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [
    { name: 'acme/echo', routes: [{ provider: 'mock' }] },
    { name: 'acme/other', routes: [{ provider: 'mock' }] },
  ],
};

async function start(config: object = CONFIG, options: StartGatewayOptions = {}) {
  const gateway = await startGateway(config, options);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

const asAdmin = ({ adminKey }: TestGateway) => ({ authorization: `Bearer ${adminKey}` });
const follow = async (gateway: TestGateway, query = '', after?: string) => {
  const opened = await openStream(gateway.url + PATH + query, {
    headers: asAdmin(gateway),
    ...(after !== undefined && { after }),
  });
  onTestFinished(() => opened.close());
  return opened;
};

async function chat(gateway: TestGateway, model = 'acme/echo'): Promise<string> {
  const { headers, status } = await gateway.chat(model);
  expect(status).toBe(200);
  return headers.get('x-request-id') ?? '';
}

it('tells the newest rows, then each change once, without content', async () => {
  const gateway = await start({ ...CONFIG, server: { log: { content: true } } });
  const before = [];
  for (let i = 0; i < 3; i++) before.push(await chat(gateway));
  const stream = await follow(gateway, '?limit=2');
  await eventually(() => stream.events.length > 0);
  expect(stream.rows.map(({ id }) => id)).toEqual(before.slice(1));
  const live = await chat(gateway);
  await stream.until(live, 'ok');
  const { body: record } = await gateway.admin('GET', `/admin/v1/requests/${live}`);
  const { content, ...row } = record;
  expect(content).toBeDefined();
  expect(stream.rows.at(-1)).toEqual(row);
  const ended = stream.rows.filter(({ result }) => result !== 'pending').map(({ id }) => id);
  expect(ended).toEqual([...before.slice(1), live]);
});

it('tells an empty list at once, and the rows of a filter alone', async () => {
  const gateway = await start();
  const none = await follow(gateway);
  await eventually(() => none.events.length > 0);
  expect(none.events).toEqual([{ event: 'requests', data: [] }]);
  const others = await follow(gateway, '?model=acme/other');
  const failed = await follow(gateway, '?status=error&limit=0');
  await chat(gateway);
  const other = await chat(gateway, 'acme/other');
  await gateway.chat('acme/none');
  await others.until(other, 'ok');
  await eventually(() => failed.rows.length > 0);
  expect(new Set(others.rows.map(({ id }) => id))).toEqual(new Set([other]));
  expect(failed.rows).toMatchObject([{ result: 'error', model: 'acme/none' }]);
  const refused = await gateway.admin('GET', `${PATH}?page=x`);
  expect(refused).toMatchObject({ status: 400, body: { error: { type: 'invalid_request' } } });
  expect(await gateway.call('GET', PATH)).toMatchObject({ status: 403 });
  const head = await fetch(gateway.url + PATH, { method: 'HEAD', headers: asAdmin(gateway) });
  expect(head.headers.get('content-type')).toContain('text/event-stream');
});

it("tells a key without admin its own organization's calls, as its list shows them", async () => {
  const gateway = await start();
  await gateway.admin('POST', '/admin/v1/organizations', { name: 'other' });
  const made = await gateway.admin('POST', '/admin/v1/keys', {
    name: 'theirs',
    organization: 'other',
  });
  const headers = { authorization: `Bearer ${gateway.clientKey}` };
  const path = '/v1/account/executions/events';
  const stream = await openStream(gateway.url + path, { headers });
  onTestFinished(() => stream.close());
  await gateway.chat('acme/echo', { key: made.body.value });
  const own = await chat(gateway);
  await stream.until(own, 'ok');
  expect(new Set(stream.rows.map(({ id }) => id))).toEqual(new Set([own]));
  const { body } = await gateway.call('GET', `/v1/account/executions/${own}`);
  expect(stream.rows.at(-1)).toEqual(body);
});

it(
  verifies(
    'console.one-stream',
    'goes on behind the last event without a gap or a duplicate, also behind a kill and a start of the gateway',
  ),
  async () => {
    const directory = await directoryOfTest();
    const config = {
      ...CONFIG,
      server: { store: { driver: 'lmdb', path: `${directory}/data` } },
    };
    const first = await start(config, { binary: true, directory });
    const sent: string[] = [];
    const seen: { id: string; result: string }[] = [];
    const opened = await follow(first);
    for (let i = 0; i < 5; i++) sent.push(await chat(first));
    await opened.until(sent.at(-1) ?? '', 'ok');
    opened.close();
    seen.push(...opened.rows);
    for (let i = 0; i < 5; i++) sent.push(await chat(first));
    const again = await follow(first, '', opened.lastId);
    await again.until(sent.at(-1) ?? '', 'ok');
    sent.push(await chat(first));
    await again.until(sent.at(-1) ?? '', 'ok');
    seen.push(...again.rows);
    const { clientKey } = first;
    first.child?.kill('SIGKILL');
    await eventually(() => again.ended);
    const second = await start(config, { directory });
    for (let i = 0; i < 3; i++) {
      const { headers } = await second.chat('acme/echo', { key: clientKey });
      sent.push(headers.get('x-request-id') ?? '');
    }
    const behind = await follow(second, '', again.lastId);
    await behind.until(sent.at(-1) ?? '', 'ok');
    seen.push(...behind.rows);
    expect(behind.events.map(({ event }) => event)).not.toContain('reset');
    const ended = seen.filter(({ result }) => result !== 'pending').map(({ id }) => id);
    expect(ended).toEqual(sent);
  },
);

it('tells what other workers did', async () => {
  const gateway = await start(CONFIG_OF_TWO, { binary: true });
  const streams = await Promise.all(Array.from({ length: 6 }, () => follow(gateway)));
  const sent: string[] = [];
  for (let i = 0; i < 12; i++) sent.push(await chat(gateway));
  for (const stream of streams)
    for (const id of sent) {
      await stream.until(id, 'ok');
      expect(stream.rows.filter((row) => row.id === id && row.result === 'ok')).toHaveLength(1);
    }
});

const CONFIG_OF_TWO = { ...CONFIG, server: { workers: 2, store: { driver: 'lmdb' } } };

it(
  verifies(
    'console.sign-in.ends',
    'a revoked key, and a sign-out, end open streams and refuse what follows within a second',
  ),
  async () => {
    const gateway = await start();
    const scopes = ['admin'];
    const { body: key } = await gateway.admin('POST', '/admin/v1/keys', { name: 'x', scopes });
    const direct = await openStream(gateway.url + PATH, {
      headers: { authorization: `Bearer ${key.value}` },
    });
    const page = await signIn(gateway, { key: key.value });
    const other = await signIn(gateway, { key: gateway.adminKey });
    const open = (cookie: string) =>
      openStream(`${gateway.url}/console/api${PATH}`, { headers: { cookie } });
    const [inPage, inOther] = await Promise.all([open(page.cookie), open(other.cookie)]);
    const id = await chat(gateway);
    for (const stream of [direct, inPage, inOther]) await stream.until(id, 'ok');
    await gateway.admin('POST', `/admin/v1/keys/${key.id}/revoke`, {});
    await eventually(() => direct.ended && inPage.ended);
    expect(inOther.ended).toBe(false);
    expect(await page.call('GET', PATH)).toMatchObject({
      status: 401,
      body: { error: 'API key has been revoked' },
    });
    await other.call('DELETE', '/session');
    await eventually(() => inOther.ended);
    expect((await open(other.cookie)).status).toBe(401);
    expect(
      await ask(`${gateway.url}/console/api/session`, { headers: { cookie: page.cookie } }),
    ).toMatchObject({ status: 401 });
  },
);

it('ends the streams of a session whose time has passed', async () => {
  const clock = createFakeClock(Date.now());
  const gateway = await start(CONFIG, { clock });
  const { cookie, call } = await signIn(gateway, { key: gateway.adminKey });
  const url = `${gateway.url}/console/api${PATH}`;
  const stream = await openStream(url, { headers: { cookie } });
  await eventually(() => stream.events.length > 0);
  // Only the last minutes pass timer by timer.
  clock.step(12 * 3_600_000 - 300_000);
  clock.advance(300_000);
  await eventually(() => {
    clock.advance(500);
    return stream.ended;
  });
  expect(await call('GET', '/session')).toMatchObject({ status: 401 });
});
