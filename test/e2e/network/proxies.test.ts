import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { createAuthority } from '../../support/certificates.ts';
import { startConnectProxy } from '../../support/stage/connect-proxy.ts';
import type { ConnectProxy, ConnectProxyOptions } from '../../support/stage/connect-proxy.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startMediaStudio } from '../../support/stage/media-studio.ts';

const authority = createAuthority('Behind');
afterAll(() => authority.dispose());

const CREDENTIALS = 'scout:hush-hush';
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const answer: RequestListener = (request, response) => {
  request.resume().once('end', () => {
    response.setHeader('content-type', 'application/json').end(ANSWER);
  });
};

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('not listening');
  return address.port;
}

async function proxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const started = await startConnectProxy(options);
  onTestFinished(() => started.close());
  return started;
}

async function start(
  providers: object[],
  env: Record<string, string>,
  server: object = {},
): Promise<TestGateway> {
  const gateway = await startGateway(
    {
      server,
      providers: providers.map((one) => ({ type: 'custom', auth: { type: 'none' }, ...one })),
      models: providers.map((one) => ({
        name: `m/${(one as { name: string }).name}`,
        routes: [{ provider: (one as { name: string }).name, upstream_model: 'm' }],
      })),
    },
    { env },
  );
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

it('calls to http and https go through kept tunnels', async () => {
  const through = await proxy({ credentials: CREDENTIALS });
  const plain = await listening(createServer(answer));
  const secure = await listening(createTlsServer(authority.issue('models.example'), answer));
  const tls = { ca: authority.ca, server_name: 'models.example' };
  const gateway = await start(
    [
      { name: 'plain', base_url: `http://127.0.0.1:${plain}/v1` },
      { name: 'secure', base_url: `https://127.0.0.1:${secure}/v1`, tls },
    ],
    { HTTP_PROXY: through.authorizedUrl, https_proxy: through.authorizedUrl },
  );
  for (const model of ['m/plain', 'm/plain', 'm/secure', 'm/secure'])
    expect((await gateway.chat(model)).status).toBe(200);
  expect(through.asked).toEqual([`127.0.0.1:${plain}`, `127.0.0.1:${secure}`]);
  expect(through.others).toEqual([]);
});

it('a provider names its own proxy, or none, and NO_PROXY excepts others', async () => {
  const [common, own] = [await proxy(), await proxy()];
  const port = await listening(createServer(answer));
  const excepted = await listening(createServer(answer));
  const gateway = await start(
    [
      { name: 'common', base_url: `http://127.0.0.1:${port}/v1` },
      { name: 'own', base_url: `http://127.0.0.1:${port}/v1`, proxy: own.url },
      { name: 'none', base_url: `http://127.0.0.1:${port}/v1`, proxy: 'none' },
      { name: 'excepted', base_url: `http://127.0.0.1:${excepted}/v1` },
    ],
    { HTTP_PROXY: common.url, NO_PROXY: `127.0.0.1:${excepted}` },
  );
  for (const name of ['common', 'own', 'none', 'excepted'])
    expect((await gateway.chat(`m/${name}`)).status).toBe(200);
  expect(common.asked).toEqual([`127.0.0.1:${port}`]);
  expect(own.asked).toEqual([`127.0.0.1:${port}`]);
});

it(
  verifies('net.proxy.credentials-hidden', 'a refusal is told everywhere without them'),
  async () => {
    const through = await proxy({ credentials: 'other:words' });
    const port = await listening(createServer(answer));
    const env = { HTTP_PROXY: through.authorizedUrl.replace('other:words', CREDENTIALS) };
    const provider = { name: 'far', base_url: `http://127.0.0.1:${port}/v1` };
    const gateway = await start([provider], env, { log: { level: 'debug' } });
    const refused = await gateway.chat('m/far');
    expect(refused.status).toBeGreaterThanOrEqual(500);
    const said = await eventually(async () => {
      const { body } = await gateway.admin('GET', '/admin/v1/requests?limit=1');
      return body.data[0].result !== 'pending' && JSON.stringify(body);
    });
    expect(said).toContain(`PROXY_REFUSED, proxy ${through.url} answered 407`);

    const cwd = gateway.directory;
    const whole = { type: 'custom', auth: { type: 'none' }, ...provider };
    await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify({ version: 1, providers: [whole] }));
    const doctor = await runCli(['doctor'], { cwd, env: { HOME: cwd, ...env } });
    expect(doctor.stdout + doctor.stderr).toContain(`through the proxy ${through.url}`);
    expect(doctor.stdout + doctor.stderr).toContain('answered 407');

    const everything = [refused.body, said, gateway.log(), doctor.stdout, doctor.stderr].join('\n');
    const secrets = ['hush-hush', Buffer.from(CREDENTIALS).toString('base64')];
    for (const secret of secrets) expect(everything).not.toContain(secret);
  },
);

it('a provider refuses credentials in its proxy', async () => {
  const text = JSON.stringify({
    version: 1,
    providers: [{ name: 'a', type: 'openai', proxy: 'http://u:hush@p:1' }],
  });
  const run = await runCli(['validate', '-f', '-'], { stdin: text });
  expect(run.code).not.toBe(0);
  expect(run.stdout + run.stderr).toContain('proxy must not contain credentials');
  expect(run.stdout + run.stderr).not.toContain('hush');
});

it('media of clients are fetched through it, by the address that was checked', async () => {
  const studio = await startMediaStudio();
  onTestFinished(() => studio.close());
  const { port } = new URL(studio.url);
  const through = await proxy({ credentials: CREDENTIALS });
  const gateway = await start(
    [],
    { HTTP_PROXY: through.authorizedUrl },
    { outbound: { allow: [`localhost:${port}`] } },
  );
  const register = (url: string) =>
    gateway.call('POST', '/v1/assets', { body: { url, asset_type: 'Image' } });
  expect((await register(`http://localhost:${port}/photo.png`)).status).toBe(201);
  expect(through.asked.length).toBeGreaterThan(0);
  for (const target of through.asked) expect(target).toMatch(/^(127\.0\.0\.1|\[::1\]):\d+$/);
  const before = through.asked.length;
  expect((await register(`http://127.0.0.1:${Number(port) + 1}/photo.png`)).status).toBe(400);
  expect(through.asked.length).toBe(before);
});

it('a start warns once of providers on this machine that a proxy would be asked for', async () => {
  const port = await listening(createServer(answer));
  const own = `http://127.0.0.1:${port}/v1`;
  const custom = { type: 'custom', auth: { type: 'none' } };
  const providers = [
    { name: 'excused', ...custom, base_url: own, proxy: 'none' },
    { name: 'excepted', ...custom, base_url: `http://localhost:${port}/v1` },
    { name: 'first', ...custom, base_url: own },
    { name: 'ollama', type: 'ollama' },
    { name: 'far', ...custom, base_url: 'https://models.example/v1' },
    { name: 'mock', type: 'mock' },
  ];
  const through = await proxy({ credentials: CREDENTIALS });
  const gateway = await startGateway(
    { server: { workers: 2 }, providers },
    { binary: true, env: { HTTP_PROXY: through.authorizedUrl, NO_PROXY: 'localhost' } },
  );
  await gateway.stop();
  const log = gateway.log();
  expect(log.match(/(?<=warn +)providers .*environment/g)).toEqual([
    `providers first, ollama on this machine are asked through the proxy ${through.url} of the environment`,
  ]);
  expect(log).toContain('hint="add 127.0.0.1 to NO_PROXY, or set proxy: none"');
  expect(log).not.toContain('hush-hush');
});
