import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { customProvider } from '../../support/chat.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: [customProvider('a', 'http://127.0.0.1:9'), { name: 'mock', type: 'mock' }],
    models: [
      {
        name: 'acme/fast',
        routes: [
          { provider: 'a', upstream_model: 'up', protocols: ['chat'] },
          { provider: 'mock', upstream_model: 'up', priority: 1 },
        ],
      },
    ],
  });
});
afterAll(() => gateway.stop());

const explain = (query: string) => gateway.admin('GET', `/admin/v1/routing?${query}`);

it('the plan of a model shows who would be asked, and follows the health of its routes', async () => {
  const before = await explain('model=acme/fast');
  expect(before.status).toBe(200);
  const providers = ({ body }: { body: { candidates: { provider: string }[] } }) =>
    body.candidates.map(({ provider }) => provider);
  expect(providers(before)).toEqual(['a', 'mock']);
  for (let i = 0; i < 5; i++) expect((await gateway.chat('acme/fast')).status).toBe(200);
  const after = await explain('model=acme/fast');
  expect(providers(after)).toEqual(['mock', 'a']);
  expect(after.body.candidates[1].health).toMatchObject({ state: 'cooled', consecutive_faults: 5 });
});

it(
  verifies('provider.health-shown', 'a provider that is left out is so in lists and in the log'),
  async () => {
    for (let i = 0; i < 7; i++) await gateway.chat('acme/fast');
    const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
    const list = await runCli(['providers', 'list'], { env });
    expect(list.stdout).toMatch(/^NAME +TYPE +HEALTH .*\na +custom +left out until \S+Z /);
    expect(list.stdout).toMatch(/^mock +mock +available /m);
    const one = await runCli(['providers', 'get', 'a', '-o', 'json'], { env });
    const { health } = one.json().data;
    expect(health).toMatchObject({ state: 'left_out', routes: [{ model: 'acme/fast' }] });
    expect((await runCli(['providers', 'get', 'a'], { env })).stdout).toContain(
      `left out until ${health.until.slice(0, 19)}Z`,
    );
    const lines = gateway.log().match(/^.*provider left out.*$/gm);
    expect(lines).toEqual([
      expect.stringMatching(/ provider=a model=up reason="failures in a row"/),
    ]);
  },
);

it('a question that has no answer says what is wrong with it', async () => {
  expect(await explain('')).toMatchObject({
    status: 400,
    body: { error: { param: 'model' } },
  });
  expect(await explain('model=acme/fats')).toMatchObject({
    status: 404,
    body: { error: { message: 'no model acme/fats; did you mean acme/fast?' } },
  });
  expect(await explain('model=acme/fast&protocol=telepathy')).toMatchObject({
    status: 400,
    body: { error: { param: 'protocol', message: expect.stringContaining('chat') } },
  });
  const client = { key: gateway.clientKey };
  expect((await gateway.call('GET', '/admin/v1/routing?model=acme/fast', client)).status).toBe(403);
});
