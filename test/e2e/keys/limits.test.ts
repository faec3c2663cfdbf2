import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../../support/gateway.ts';

const DAY = 86_400_000;
const PRICED = { provider: 'mock', pricing: { per_call: '0.15' } };
const CONFIG = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [
    { name: 'acme/free', routes: [{ provider: 'mock' }] },
    { name: 'acme/priced', routes: [PRICED] },
  ],
};
const KEY_RPM = { status: 429, body: { error: 'API key rate limit exceeded' } };
const PLATFORM_RPM = { status: 429, body: { error: 'global rate limit exceeded' } };
const KEY_SPENT = { status: 402, body: { error: 'API key spending limit exceeded' } };
const ORGANIZATION_SPENT = { status: 402, body: { error: 'organization spending limit reached' } };

async function start(config: object, options: StartGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await startGateway({ ...CONFIG, ...config }, options);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

async function startWithClock(
  config: object = {},
): Promise<{ gateway: TestGateway; clock: FakeClock }> {
  const clock = createFakeClock();
  return { gateway: await start(config, { clock }), clock };
}

async function createKey(gateway: TestGateway, body: object): Promise<string> {
  const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'limited', ...body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.value;
}

const models = (gateway: TestGateway, key: string) => gateway.call('GET', '/v1/models', { key });

async function countAccepted(statuses: Promise<{ status: number }>[]): Promise<number> {
  const answers = await Promise.all(statuses);
  for (const { status } of answers) expect([200, 429]).toContain(status);
  return answers.filter(({ status }) => status === 200).length;
}

describe('requests per minute', () => {
  it(
    verifies(
      'limits.rpm.key-cap',
      'limits.rpm.key-counts-all-endpoints',
      'errors.flat.rate-limit-key-message',
      'errors.429.no-retry-headers',
      'counts every request of a key, whatever it asks for, but not the refused ones',
    ),
    async () => {
      const { gateway, clock } = await startWithClock();
      const key = await createKey(gateway, { rpm_cap: 4, scopes: ['models'] });
      expect((await models(gateway, key)).status).toBe(200);
      expect((await gateway.call('GET', '/v1/models/acme/none', { key })).status).toBe(404);
      expect((await gateway.chat('acme/free', { key })).status).toBe(403);
      expect((await gateway.call('GET', '/admin/v1/keys', { key })).status).toBe(403);
      for (let again = 0; again < 3; again++) {
        const refused = await models(gateway, key);
        expect(refused).toMatchObject(KEY_RPM);
        expect(refused.headers.get('content-type')).toBe('application/json');
        const names = [...refused.headers.keys()].filter((name) => /retry|ratelimit/.test(name));
        expect(names).toEqual([]);
      }
      expect((await gateway.chat('acme/free')).status).toBe(200);
      // Were refusals counted, the window would still be full.
      clock.advance(60_000);
      expect(await countAccepted(Array.from({ length: 9 }, () => models(gateway, key)))).toBe(4);
    },
  );

  it(
    verifies(
      'limits.rpm.platform',
      'limits.rpm.platform-every-request',
      'errors.flat.rate-limit-global-message',
      'counts every public request over all keys, also those that fail',
    ),
    async () => {
      const { gateway, clock } = await startWithClock({ server: { limits: { rpm: 6 } } });
      const one = await createKey(gateway, { name: 'one' });
      const two = await createKey(gateway, { name: 'two' });
      clock.advance(60_000);
      const statuses = [
        (await models(gateway, '')).status,
        (await gateway.chat('acme/free', { key: one })).status,
        (await models(gateway, one)).status,
        (await models(gateway, two)).status,
        (await gateway.admin('GET', '/admin/v1/keys')).status,
        (await gateway.admin('POST', '/admin/v1/keys', { name: 'three' })).status,
      ];
      expect(statuses).toEqual([401, 200, 200, 200, 200, 201]);
      expect(await models(gateway, '')).toMatchObject(PLATFORM_RPM);
      expect(await gateway.chat('acme/free', { key: two })).toMatchObject(PLATFORM_RPM);
      expect(await gateway.admin('GET', '/admin/v1/keys')).toMatchObject(PLATFORM_RPM);
      for (const path of ['/healthz', '/readyz'])
        expect((await gateway.call('GET', path, { key: '' })).status).toBe(200);
    },
  );

  it(
    verifies(
      'limits.rpm.refused-share',
      'limits.rpm.ceiling-with-shares',
      'leaves four fifths to valid keys, however many others knock',
    ),
    async () => {
      const { gateway, clock } = await startWithClock({ server: { limits: { rpm: 10 } } });
      const key = await createKey(gateway, {});
      const revoked = await gateway.admin('POST', '/admin/v1/keys', { name: 'revoked' });
      await gateway.admin('POST', `/admin/v1/keys/${revoked.body.id}/revoke`);
      clock.advance(60_000);
      const refused = [
        await models(gateway, ''),
        await models(gateway, revoked.body.value),
        await models(gateway, 'sk-unknown'),
        await models(gateway, revoked.body.value),
        await gateway.chat('acme/free', { key: '' }),
      ];
      expect(refused.map(({ status }) => status)).toEqual([401, 401, 429, 429, 429]);
      expect(refused[4]).toMatchObject(PLATFORM_RPM);
      const valid = [];
      for (let i = 0; i < 10; i++) valid.push((await models(gateway, key)).status);
      expect(valid).toEqual([...Array.from({ length: 8 }, () => 200), 429, 429]);
      expect(await models(gateway, '')).toMatchObject(PLATFORM_RPM);
      clock.advance(60_000);
      expect((await models(gateway, '')).status).toBe(401);
      expect((await models(gateway, key)).status).toBe(200);
    },
  );

  it(
    verifies(
      'limits.rpm.admin-reserve',
      'limits.rpm.ceiling-with-shares',
      'keeps a twentieth of a large ceiling for admin keys, inside of it',
    ),
    async () => {
      const { gateway, clock } = await startWithClock({ server: { limits: { rpm: 100 } } });
      const key = await createKey(gateway, {});
      clock.advance(60_000);
      const statuses: number[] = [];
      for (let i = 0; i < 30; i++) statuses.push((await models(gateway, '')).status);
      for (let i = 0; i < 90; i++) statuses.push((await models(gateway, key)).status);
      const countOf = (status: number) => statuses.filter((one) => one === status).length;
      expect([countOf(401), countOf(200)]).toEqual([20, 75]);
      const admin = [];
      for (let i = 0; i < 7; i++) admin.push((await gateway.admin('GET', '/admin/v1/keys')).status);
      expect(admin).toEqual([200, 200, 200, 200, 200, 429, 429]);
      expect(await models(gateway, '')).toMatchObject(PLATFORM_RPM);
    },
  );

  it(
    verifies(
      'limits.rpm.rolling-window',
      'gives each place back exactly 60 seconds after it was taken',
    ),
    async () => {
      const { gateway, clock } = await startWithClock();
      const key = await createKey(gateway, { rpm_cap: 2 });
      const status = async () => (await models(gateway, key)).status;
      expect(await status()).toBe(200);
      clock.advance(30_000);
      expect(await status()).toBe(200);
      clock.advance(29_999);
      expect(await status()).toBe(429);
      clock.advance(1);
      expect([await status(), await status()]).toEqual([200, 429]);
      clock.advance(29_999);
      expect(await status()).toBe(429);
      clock.advance(1);
      expect([await status(), await status()]).toEqual([200, 429]);
    },
  );

  it(verifies('limits.rpm.no-defaults', 'caps nothing unless told to'), async () => {
    const gateway = await start({});
    const all = Array.from({ length: 150 }, () => models(gateway, gateway.clientKey));
    expect(await countAccepted(all)).toBe(150);
  });
});

describe('spending limits', () => {
  it(
    verifies(
      'limits.spend.key-402',
      'limits.spend.org-402',
      'refuse with 402 once they are reached, and nothing goes upstream',
    ),
    async () => {
      const upstream = await startMockServer();
      onTestFinished(() => upstream.close());
      const gateway = await start({
        providers: [
          {
            name: 'mock',
            type: 'custom',
            base_url: `${upstream.url}/v1`,
            auth: { type: 'none' },
            protocols: { chat: true },
          },
        ],
      });
      const call = async (key: string, stream: boolean) =>
        gateway.chat('acme/priced', { key, body: { stream } });
      const key = await createKey(gateway, { spending_limit: '0.30' });
      expect((await call(key, false)).status).toBe(200);
      expect((await call(key, true)).status).toBe(200);
      expect(await call(key, false)).toMatchObject(KEY_SPENT);
      expect(await call(key, true)).toMatchObject(KEY_SPENT);
      expect(upstream.engine.calls()).toHaveLength(2);

      const owner = { name: 'poor', spending_limit: '0.15' };
      const { body } = await gateway.admin('POST', '/admin/v1/organizations', owner);
      const one = await createKey(gateway, { name: 'a', organization: body.id });
      const two = await createKey(gateway, { name: 'b', organization: body.id });
      expect((await call(one, false)).status).toBe(200);
      for (const poor of [one, two])
        expect(await call(poor, false)).toMatchObject(ORGANIZATION_SPENT);
      const { headers } = await call(two, false);
      expect(headers.get('x-gateway-limit')).toBe('organization; per=lifetime');
      const path = `/v1/account/executions/${headers.get('x-request-id')}`;
      expect(await gateway.call('GET', path, { key: two })).toMatchObject({
        body: {
          refused_by: { limit: 'organization', amount: '0.15', spent: '0.15', left: '0.00' },
        },
      });
      expect(upstream.engine.calls()).toHaveLength(3);
      // The rest of the gateway stays usable.
      expect((await models(gateway, two)).status).toBe(200);
      expect((await call(gateway.clientKey, false)).status).toBe(200);
    },
  );

  it(
    verifies(
      'keys.limit-windows',
      'free themselves at the start of the next UTC day or month, and never for a lifetime',
    ),
    async () => {
      const { gateway, clock } = await startWithClock();
      const keys = {
        day: await createKey(gateway, { name: 'day', spending_limit: { day: '0.15' } }),
        month: await createKey(gateway, { name: 'month', spending_limit: { month: '0.15' } }),
        ever: await createKey(gateway, { name: 'ever', spending_limit: '0.15' }),
      };
      const statuses = async () => {
        const answers = Object.values(keys).map((key) => gateway.chat('acme/priced', { key }));
        return (await Promise.all(answers)).map(({ status }) => status);
      };
      expect(await statuses()).toEqual([200, 200, 200]);
      clock.step(DAY - 1);
      expect(await statuses()).toEqual([402, 402, 402]);
      clock.step(1);
      expect(await statuses()).toEqual([200, 402, 402]);
      expect(await statuses()).toEqual([402, 402, 402]);
      // From 22 November to the first of December.
      clock.step(9 * DAY);
      expect(await statuses()).toEqual([200, 200, 402]);
    },
  );
});

describe('two processes on one store', () => {
  let a: TestGateway;
  let b: TestGateway;
  beforeAll(async () => {
    const slow = { reply: { text: 'slow', delay_ms: 300 } };
    const providers = [{ name: 'mock', type: 'mock', mock: { rules: [slow] } }];
    const directory = await emptyDirectory();
    const config = { ...CONFIG, providers, server: { store: { driver: 'lmdb' } } };
    // This process is one of the two.
    a = await startGateway(config, { directory });
    b = await startGateway(config, { binary: true, directory });
  });
  afterAll(() => Promise.all([a?.stop(), b?.stop()]));

  it(
    verifies(
      'limits.rpm.exact-across-workers',
      'accept exactly the cap of 400 concurrent requests',
    ),
    async () => {
      const key = await createKey(a, { rpm_cap: 100 });
      await eventually(async () => (await b.call('GET', '/v1/models/x', { key })).status === 404);
      const requests = Array.from({ length: 399 }, (_, index) => models(index % 2 ? a : b, key));
      // The look from b took one place.
      expect(await countAccepted(requests)).toBe(99);
    },
  );

  it(
    verifies(
      'store.ledger.never-exceeds',
      'admit at most 3 of 20 concurrent calls of 0.15 under a limit of 0.45, at one and at both',
    ),
    async () => {
      const spend = async (gateways: TestGateway[], name: string) => {
        const key = await createKey(a, { name, spending_limit: '0.45' });
        for (const gateway of gateways)
          await eventually(async () => (await models(gateway, key)).status === 200);
        const answers = await Promise.all(
          gateways.flatMap((gateway) =>
            Array.from({ length: 20 / gateways.length }, () =>
              gateway.chat('acme/priced', { key }),
            ),
          ),
        );
        for (const answer of answers.filter(({ status }) => status !== 200))
          expect(answer).toMatchObject(KEY_SPENT);
        return answers.filter(({ status }) => status === 200).length;
      };
      expect(await spend([a], 'one-process')).toBe(3);
      expect(await spend([a, b], 'two-processes')).toBe(3);
      await eventually(async () => {
        const { body } = await a.admin('GET', '/admin/v1/usage');
        return body.data[0].cost === '0.90';
      });
    },
  );
});
