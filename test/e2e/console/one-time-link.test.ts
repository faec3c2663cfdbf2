import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { freePort } from '../../store/support/free-port.ts';
import { ask, startGateway } from '../../support/gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { ownPage, signIn } from './console-client.ts';

async function start(config: object = {}, options: StartGatewayOptions = {}) {
  const gateway = await startGateway(config, options);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

/** A program on a loopback address. */
let local: TestGateway;
beforeAll(async () => {
  local = await startGateway({}, { binary: true });
});
afterAll(() => local?.stop());

async function printed(cwd: string, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(['console', ...words], { cwd });
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

it(
  verifies('console.one-time-link', '`gateway console` prints a link that signs in once'),
  async () => {
    const { adminKey, directory, url } = local;
    const { href, opened } = JSON.parse(await printed(directory, '-o', 'json')).data;
    expect(opened).toBe(false);
    expect(href.startsWith(`${url}/console/#link=`)).toBe(true);
    const link = href.slice(href.indexOf('=') + 1);
    const { signedIn, call } = await signIn(local, { link });
    expect(signedIn).toMatchObject({ status: 201 });
    expect(signedIn.body.key.scopes).toContain('admin');
    expect(await call('GET', '/admin/v1/keys')).toMatchObject({ status: 200 });
    expect(JSON.stringify([href, signedIn.body])).not.toContain(adminKey);
    const again = await signIn(local, { link });
    expect(again.signedIn).toMatchObject({ status: 401 });
    expect(again.signedIn.body.error.message).toContain('gateway console');
    expect(again.cookie).toBe('');
    expect(await printed(directory, '--no-open')).toMatch(
      /^http:\/\/\S+\/console\/#link=[\w-]{43}\n$/,
    );
  },
);

it('refuses a link that is older than thirty seconds', async () => {
  const clock = createFakeClock(Date.now());
  const gateway = await start({}, { clock });
  const { body } = await gateway.admin('POST', '/admin/v1/console/links', {});
  expect(body).toMatchObject({ type: 'console_link', url: null });
  expect(Date.parse(body.expires_at) - clock.now()).toBe(30_000);
  clock.advance(30_000);
  expect((await signIn(gateway, { link: body.link })).signedIn.status).toBe(401);
  const { body: next } = await gateway.admin('POST', '/admin/v1/console/links', {});
  clock.advance(29_999);
  expect((await signIn(gateway, { link: next.link })).signedIn.status).toBe(201);
});

it('makes links for administrators, where the console is served', async () => {
  const gateway = await start({ server: { console: { enabled: false } } });
  const path = '/admin/v1/console/links';
  expect(await gateway.call('POST', path, { body: {} })).toMatchObject({ status: 403 });
  expect(await gateway.admin('POST', path, {})).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining('server.console.enabled: true') } },
  });
});

it(
  verifies(
    'console.default-on-loopback',
    'is served on a loopback address, which the start prints, and on a public one only where that is said',
  ),
  async () => {
    expect(local.log()).toContain(`the console is at ${local.url}/console`);
    const session = '/console/api/session';
    expect(await ask(local.url + session)).toMatchObject({ status: 401 });
    const open = await start({}, { binary: true, args: ['--host', '0.0.0.0'] });
    expect(open.log()).not.toContain('/console');
    for (const path of ['/console', '/console/x', session]) {
      expect(await ask(open.url + path)).toMatchObject({ status: 404 });
      expect(await ask(open.url + path, { method: 'POST', body: {} })).toMatchObject({
        status: 404,
      });
    }
    const asked = await start({
      server: { console: { enabled: true }, listen: { host: '0.0.0.0' } },
    });
    expect(await ask(asked.url + session)).toMatchObject({ status: 401 });
    const off = await start({ server: { console: { enabled: false } } });
    expect(await ask(off.url + session)).toMatchObject({ status: 404 });
  },
);

it('has an address of its own where one is given, and nothing else there', async () => {
  const port = await freePort();
  const listen = { host: '127.0.0.1', port };
  const gateway = await start({ server: { console: { listen } } });
  const own = `http://127.0.0.1:${port}`;
  expect(await ask(`${gateway.url}/console/api/session`)).toMatchObject({ status: 404 });
  const { body } = await gateway.admin('POST', '/admin/v1/console/links', {});
  expect(body.url).toBe(own);
  const { call, signedIn } = await signIn({ url: own }, { link: body.link });
  expect(signedIn.status).toBe(201);
  expect(await call('GET', '/admin/v1/keys')).toMatchObject({ status: 200 });
  const headers = { ...ownPage(own), authorization: `Bearer ${gateway.adminKey}` };
  for (const path of ['/admin/v1/keys', '/v1/models', '/healthz'])
    expect(await ask(own + path, { headers })).toMatchObject({ status: 404 });
});
