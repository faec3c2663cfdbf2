import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

let upstream: Upstream;
let gateway: TestGateway;

/** Routes, and the API, that nobody prices; as `start` and `doctor` call them. */
const UNPRICED = ['acme/mixed (own)', 'acme/new (openai)', 'acme/unknown (own)', 'API weather'];

beforeAll(async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
  const message = { role: 'assistant', content: 'hi' };
  upstream = await startUpstream((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'c', choices: [{ index: 0, message }], usage }));
  });
  const base_url = `${upstream.url}/v1`;
  const custom = { type: 'custom', auth: { type: 'none' }, base_url, protocols: { chat: true } };
  const config = {
    server: { metrics: { listen: { host: '127.0.0.1', port: 0 } } },
    providers: [
      { name: 'own', ...custom },
      { name: 'openai', type: 'openai', base_url, api_key: '${secret:env:VENDOR}' },
      { name: 'mock', type: 'mock' },
    ],
    models: [
      { name: 'acme/unknown', routes: [{ provider: 'own' }] },
      { name: 'acme/new', routes: [{ provider: 'openai', upstream_model: 'not-listed-yet' }] },
      {
        name: 'acme/mixed',
        routes: [{ provider: 'openai', upstream_model: 'gpt-5' }, { provider: 'own' }],
      },
      { name: 'acme/listed', routes: [{ provider: 'openai', upstream_model: 'gpt-5' }] },
      { name: 'acme/said', pricing: { input: '1' }, routes: [{ provider: 'own' }] },
      { name: 'acme/free', pricing: 'free', routes: [{ provider: 'own' }] },
      { name: 'acme/mock', routes: [{ provider: 'mock' }] },
    ],
    apis: [
      { name: 'weather', base_url: upstream.url, auth: { type: 'none' } },
      { name: 'gratis', base_url: upstream.url, auth: { type: 'none' }, pricing: 'free' },
    ],
  };
  gateway = await startGateway(config, { binary: true, env: { VENDOR: 'sk-upstream' } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

async function run(words: string): Promise<string> {
  const { code, stdout, stderr } = await runCli(words.split(' '), {
    cwd: gateway.directory,
    env: { ...adminEnv(gateway), VENDOR: 'sk-upstream' },
  });
  expect(code, stderr).toBe(0);
  return stdout;
}

/** First word of each line that says `unpriced`. */
const unpricedLines = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.includes('unpriced'))
    .map((line) => line.trim().replace(/\s.*/, ''));

it(
  verifies(
    'pricing.unpriced-shown',
    'routes and APIs without a known price, and those alone, wherever an operator looks',
  ),
  async () => {
    const limited = await gateway.admin('POST', '/admin/v1/keys', {
      name: 'limited',
      spending_limit: { lifetime: '5' },
    });
    const key = limited.body.value;
    for (const model of ['acme/unknown', 'acme/new']) {
      expect((await gateway.chat(model)).status, model).toBe(200);
      expect((await gateway.chat(model, { key })).status, model).toBe(402);
    }
    expect((await gateway.chat('acme/listed', { key })).status).toBe(200);
    expect((await gateway.call('GET', '/v1/api/weather/x')).status).toBe(200);
    expect((await gateway.call('GET', '/v1/api/weather/x', { key })).status).toBe(402);

    const found: { path: string; severity: string; message: string; line: number }[] = JSON.parse(
      await run('validate -o json'),
    ).data.diagnostics;
    expect(found.map(({ path, severity }) => [path, severity])).toEqual([
      ['models[0].routes[0]', 'warning'],
      ['models[1].routes[0]', 'warning'],
      ['models[2].routes[1]', 'warning'],
      ['apis[0]', 'warning'],
    ]);
    for (const { message, line } of found) {
      expect(message).toMatch(/^unpriced: .*calls under a spending limit do not use it$/);
      expect(line).toBeGreaterThan(1);
    }
    expect(await run('validate')).toMatch(
      /gateway\.yaml:\d+:\d+: warning: models\[0\]\.routes\[0\]: unpriced: no price of the route acme\/unknown \(own\)/,
    );

    const started = await eventually(() => /^.*unpriced routes: .*$/m.exec(gateway.log())?.[0]);
    expect(started).toContain('calls under a spending limit do not use them');
    expect(started).toContain(UNPRICED.join(', '));
    const checks = JSON.parse(await run('doctor --offline -o json')).data.findings;
    const prices = checks.find(({ name }: { name: string }) => name === 'prices');
    expect(prices).toMatchObject({
      state: 'warn',
      hint: expect.stringContaining('calls under a spending limit do not use them'),
    });
    expect(prices.message.replace('unpriced: ', '').split(', ').toSorted()).toEqual(
      UNPRICED.toSorted(),
    );

    const list = await run('models list');
    expect(unpricedLines(list).toSorted()).toEqual([
      'acme/mixed',
      'acme/new',
      'acme/unknown',
      'weather',
    ]);
    expect(list).toMatch(/acme\/mixed.*1\.25\/10\.00; 1 of 2 unpriced/);

    await eventually(async () => (await run('usage --by model -o csv')).includes('weather'));
    expect(unpricedLines(await run('usage --by model')).toSorted()).toEqual([
      'acme/new',
      'acme/unknown',
      'weather',
    ]);

    const url = /metrics on (\S+)/.exec(gateway.log())?.[1] ?? '';
    const metrics = await (await fetch(url)).text();
    const series = metrics.split('\n').filter((line) => line.startsWith('gateway_unpriced_'));
    expect(series.toSorted()).toEqual([
      'gateway_unpriced_requests_total{model="acme/new"} 1',
      'gateway_unpriced_requests_total{model="acme/unknown"} 1',
      'gateway_unpriced_requests_total{model="weather"} 1',
      'gateway_unpriced_routes{model="",provider="",api="weather"} 1',
      'gateway_unpriced_routes{model="acme/mixed",provider="own",api=""} 1',
      'gateway_unpriced_routes{model="acme/new",provider="openai",api=""} 1',
      'gateway_unpriced_routes{model="acme/unknown",provider="own",api=""} 1',
    ]);
  },
);

it('doctor judges by the list of prices that the gateway keeps', async () => {
  const prices = { input_mtok: 2, output_mtok: 4 };
  const models = [{ id: 'new', match: { equals: 'not-listed-yet' }, prices }];
  const text = JSON.stringify({ providers: [{ id: 'openai', models }] });
  const sha256 = createHash('sha256').update(text).digest('hex');
  const told = async (): Promise<string> => {
    const { data } = JSON.parse(await run('doctor --offline -o json'));
    return data.findings.find(({ name }: { name: string }) => name === 'prices').message;
  };
  expect(await told()).toContain('acme/new (openai)');
  const kept = await gateway.admin('PUT', '/admin/v1/prices', { text, sha256, from: 'list.json' });
  expect(kept.status).toBe(200);
  onTestFinished(() => void gateway.admin('DELETE', '/admin/v1/prices'));
  expect(await told()).not.toContain('acme/new (openai)');
  expect(await told()).toContain('acme/listed (openai)');
  const { body } = await gateway.admin('GET', '/admin/v1/status');
  expect(body.unpriced).toContain('acme/listed (openai)');
});
