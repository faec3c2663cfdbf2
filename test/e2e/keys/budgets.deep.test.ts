import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { runCli } from '../../cli/run-cli.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import { storePlaces } from '../../store/support/store-places.ts';
import { startUpstream } from '../../support/stage/upstream.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const places = storePlaces();
const DAY = 86_400_000;
const CONFIG = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [
    { name: 'acme/dear', routes: [{ provider: 'mock', pricing: { per_call: '0.15' } }] },
    { name: 'acme/cheap', routes: [{ provider: 'mock', pricing: { per_call: '0.01' } }] },
    { name: 'acme/other', routes: [{ provider: 'mock', pricing: { per_call: '0.01' } }] },
  ],
};
const KEY_SPENT = { status: 402, body: { error: 'API key spending limit exceeded' } };
const ORGANIZATION_SPENT = { status: 402, body: { error: 'organization spending limit reached' } };

async function start(config: object = {}, options: StartGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await startGateway({ ...CONFIG, ...config }, options);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

async function createKey(gateway: TestGateway, body: object): Promise<string> {
  const made = await gateway.admin('POST', '/admin/v1/keys', body);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.value;
}

async function createBudget(gateway: TestGateway, body: object): Promise<void> {
  const made = await gateway.admin('POST', '/admin/v1/budgets', { per: 'day', ...body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
}

describe('budgets', () => {
  it(
    verifies(
      'budgets.status',
      'refuse with the sentence of the key or the organization, and 403 on Messages for a key',
    ),
    async () => {
      const clock = createFakeClock();
      const gateway = await start({}, { clock });
      const key = await createKey(gateway, { name: 'ci', labels: { team: 'blue' } });
      const other = await createKey(gateway, { name: 'other', labels: { team: 'red' } });
      await createBudget(gateway, { name: 'ci', amount: '0.20', match: { keys: ['ci'] } });
      await createBudget(gateway, {
        name: 'red',
        amount: '0.15',
        match: { labels: { team: 'red' }, models: ['acme/d*'] },
      });
      expect(await gateway.chat('acme/dear', { key })).toMatchObject({ status: 200 });
      expect(await gateway.chat('acme/dear', { key })).toMatchObject(KEY_SPENT);
      const messages = await gateway.call('POST', '/v1/messages', {
        key,
        body: { model: 'acme/dear', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
      });
      expect(messages).toMatchObject({
        status: 403,
        body: { error: { message: 'API key spending limit exceeded' } },
      });
      expect(await gateway.chat('acme/dear', { key: other })).toMatchObject({ status: 200 });
      expect(await gateway.chat('acme/dear', { key: other })).toMatchObject(ORGANIZATION_SPENT);
      expect(await gateway.chat('acme/cheap', { key: other })).toMatchObject({ status: 200 });
      const { body } = await gateway.admin('GET', '/admin/v1/spending/budgets');
      expect(body.data).toMatchObject([
        { name: 'ci', amount: '0.20', spent: '0.15', reserved: '0.00', left: '0.05' },
        { name: 'red', amount: '0.15', spent: '0.15', left: '0.00' },
      ]);
      expect((await gateway.call('GET', '/v1/account/budgets', { key })).body).toEqual(body);
      clock.advance(DAY);
      expect(await gateway.chat('acme/dear', { key })).toMatchObject({ status: 200 });
    },
  );

  it(
    verifies(
      'budgets.on-exceed',
      'serve a call and raise an alert, or serve it by another model, which header and record name',
    ),
    async () => {
      const told: { type: string; data: Record<string, unknown> }[] = [];
      const receiver = await startUpstream((response, { body }) => {
        told.push(JSON.parse(body.toString()));
        response.end('ok');
      });
      onTestFinished(() => receiver.close());
      const { host } = new URL(receiver.url);
      const budgets = [
        { name: 'warned', amount: '0.10', per: 'day', on_exceed: 'warn' },
        {
          name: 'cheaper',
          amount: '0.20',
          per: 'day',
          on_exceed: { downgrade: 'acme/cheap' },
        },
      ];
      const server = { alerts: { webhooks: [receiver.url] }, outbound: { allow: [host] } };
      const gateway = await start({ budgets, server });
      const answers = [await gateway.chat('acme/dear'), await gateway.chat('acme/dear')];
      const named = answers.map(({ status, headers }) => [status, headers.get('x-gateway-model')]);
      expect(named).toEqual([
        [200, 'acme/dear'],
        [200, 'acme/cheap'],
      ]);
      const records = await eventually(async () => {
        const { body } = await gateway.admin('GET', '/admin/v1/requests?limit=2');
        return body.data.every((one: { cost: string }) => one.cost !== null) && body.data;
      });
      expect(records).toMatchObject([
        { model: 'acme/dear', cost: '0.01', answered_by: { model: 'acme/cheap' } },
        { model: 'acme/dear', cost: '0.15', answered_by: { model: 'acme/dear' } },
      ]);
      const over = await eventually(() =>
        told.find(({ data }) => data['name'] === 'warned' && data['percent'] === 100),
      );
      expect(over).toMatchObject({ type: 'alert.budget', data: { amount: '0.10' } });
    },
  );

  it('are refused where they name a model that is not there, with the place and a suggestion', async () => {
    const directory = await directoryOfTest();
    const file = `version: 1
providers: [{ name: mock, type: mock }]
models: [{ name: acme/cheap, routes: [{ provider: mock }] }]
aliases: [{ name: least, model: acme/cheap }]
budgets:
  - { name: fine, amount: 1, per: day, on_exceed: { downgrade: least } }
  - { name: wrong, amount: 1, per: day, on_exceed: { downgrade: acme/cheep } }
`;
    await writeFile(join(directory, 'gateway.yaml'), file);
    const run = await runCli(['validate'], { cwd: directory });
    expect(run.code).toBe(3);
    expect(run.stdout).toContain('gateway.yaml:7:');
    expect(run.stdout).toContain('budgets[1].on_exceed.downgrade');
    expect(run.stdout).toContain('no model is named acme/cheep');
    expect(run.stdout).toContain('acme/cheap');
    expect(run.stdout).not.toContain('budgets[0]');
  });

  it('are served by another model where they say so, which the record names', async () => {
    const gateway = await start();
    await createBudget(gateway, {
      name: 'all',
      amount: '0.20',
      on_exceed: { downgrade: 'acme/cheap' },
    });
    for (let calls = 0; calls < 3; calls++)
      expect(await gateway.chat('acme/dear')).toMatchObject({ status: 200 });
    const { body } = await gateway.admin('GET', '/admin/v1/requests?limit=3');
    expect(
      body.data.map((record: Record<string, unknown>) => [record['model'], record['cost']]),
    ).toEqual([
      ['acme/dear', '0.01'],
      ['acme/dear', '0.01'],
      ['acme/dear', '0.15'],
    ]);
    expect(body.data[0].answered_by.model).toBe('acme/cheap');
    expect(body.data[2].answered_by.model).toBe('acme/dear');
    const spent = (await gateway.admin('GET', '/admin/v1/spending/budgets')).body.data[0].spent;
    expect(spent).toBe('0.17');
    // A key that may not use the other model is refused.
    const key = await createKey(gateway, { name: 'dear', allowed_models: ['acme/dear'] });
    expect(await gateway.chat('acme/dear', { key })).toMatchObject(ORGANIZATION_SPENT);
  });

  it('are declared in gateway.yaml, refuse what names nothing, and hold keys that they name', async () => {
    const gateway = await start(
      {
        keys: [{ name: 'ci', value: '${secret:env:CI_KEY}' }],
        budgets: [{ name: 'team', amount: 5, per: 'week', match: { keys: ['ci'] } }],
      },
      { env: { CI_KEY: 'sk-test-0123456789abcdef' } },
    );
    const { body } = await gateway.admin('GET', '/admin/v1/budgets');
    expect(body.data).toMatchObject([
      { name: 'team', amount: '5.00', per: 'week', timezone: 'UTC', on_exceed: 'refuse' },
    ]);
    const post = (more: object) =>
      gateway.admin('POST', '/admin/v1/budgets', { name: 'b', amount: 1, per: 'day', ...more });
    expect(await post({ match: { keys: ['nobody'] } })).toMatchObject({ status: 404 });
    expect(await post({ match: { keys: [] } })).toMatchObject({ status: 422 });
    expect(await post({ timezone: 'Mars/Base' })).toMatchObject({ status: 422 });
    expect(await post({ on_exceed: 'explode' })).toMatchObject({ status: 400 });
  });
});

const drivers = places.drivers.filter((one) => one !== 'fs');

describe.each(inTurn('budgets', drivers))('two gateways on %s', (driver) => {
  let open: (binary: boolean) => Promise<TestGateway>;
  let gateways: TestGateway[] = [];

  beforeAll(async () => {
    const match = { models: ['acme/dear', 'acme/cheap'] };
    const budgets = [{ name: 'all', amount: 3, per: 'month', match }];
    const isFile = driver === 'lmdb';
    const store = isFile ? { driver } : await places.fresh(driver);
    const config = { ...CONFIG, budgets, server: { store } };
    const directory = await emptyDirectory();
    open = (binary) => startGateway(config, { binary, directory });
    // One process opens a file of lmdb once.
    gateways = [await open(isFile), await open(isFile)];
  });
  afterAll(() => Promise.all(gateways.map((gateway) => gateway.stop())));

  it(
    verifies(
      'limits.tokens',
      'refuse with 429 and no headers once they are reached, at both gateways, until the next day',
    ),
    async () => {
      const used = (await gateways[0]!.chat('acme/other')).body.usage.total_tokens as number;
      const key = await createKey(gateways[0]!, { name: 'capped', tpd_cap: used * 3 });
      const statuses: number[] = [];
      for (let calls = 0; calls < 5; calls++) {
        const answer = await gateways[calls % 2]!.chat('acme/other', { key });
        statuses.push(answer.status);
        if (answer.status === 200) continue;
        expect(answer.body).toEqual({ error: 'API key rate limit exceeded' });
        const names = [...answer.headers.keys()];
        expect(names.filter((name) => /retry-after|ratelimit/i.test(name))).toEqual([]);
      }
      expect(statuses).toEqual([200, 200, 200, 429, 429]);
      const minute = await createKey(gateways[0]!, { name: 'minute', tpm_cap: used });
      const at = async (index: number) =>
        (await gateways[index]!.chat('acme/other', { key: minute })).status;
      const both = await Promise.all([at(0), at(1), at(0), at(1)]);
      expect(both.filter((status) => status === 200).length).toBeLessThanOrEqual(2);
      expect(both).toContain(429);
    },
  );

  it('let in exactly what fits a budget, of fifty calls at once, and no more after a kill', async () => {
    const key = await createKey(gateways[0]!, { name: 'both' });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => gateways[index % 2]!.chat('acme/dear', { key })),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(402)]).toEqual([20, 30]);
    for (const { child } of gateways) child?.kill('SIGKILL');
    gateways.push(await open(false));
    expect((await gateways[2]!.chat('acme/cheap', { key })).status).toBe(402);
  });
});
