import { once } from 'node:events';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { verifies } from '../../requirements.ts';
import { customProvider, openaiClient } from '../../support/chat.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { eventsOf, said, startKeeping, USAGE } from '../../support/stage/keeping-provider.ts';
import type { KeepingProvider } from '../../support/stage/keeping-provider.ts';
import { beginEvents, sendJson } from '../../support/stage/upstream.ts';

const PATH = '/v1/responses';
const COST = '0.00012';

let a: KeepingProvider;
let b: KeepingProvider;

beforeEach(async () => {
  a = await startKeeping('a');
  b = await startKeeping('b');
  onTestFinished(async () => {
    await a.close();
    await b.close();
  });
});

const config = (driver: string) => ({
  server: { store: { driver } },
  providers: [
    customProvider('a', a.url, { protocols: { responses: true } }),
    customProvider('b', b.url, { protocols: { responses: true } }),
    customProvider('chat', a.url, { protocols: { chat: true } }),
  ],
  models: [
    {
      name: 'm/one',
      pricing: { input: '1', output: '1' },
      routes: ['chat', 'a', 'b'].map((provider, priority) => ({
        provider,
        upstream_model: 'up',
        priority,
      })),
    },
    {
      name: 'm/run',
      pricing: { input: '1', output: '1' },
      routes: [{ provider: 'a', upstream_model: 'up' }],
    },
    { name: 'm/chat', routes: [{ provider: 'chat', upstream_model: 'up' }] },
  ],
});

async function start(driver: string, options: StartGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await startGateway(config(driver), options);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

const ask = (gateway: TestGateway, rest: object = {}): Promise<Answer> =>
  gateway.call('POST', PATH, { body: { model: 'm/one', input: 'x', background: true, ...rest } });

const records = async (gateway: TestGateway): Promise<RequestRecord[]> => {
  const { body } = await gateway.admin('GET', '/admin/v1/requests?limit=1000');
  return body.data as RequestRecord[];
};

const costs = async (gateway: TestGateway): Promise<string[]> =>
  (await records(gateway)).map(({ cost }) => cost ?? 'unpriced').filter((cost) => cost !== '0.00');

/** Lets time pass until something is so. */
const later = (clock: FakeClock, isSo: () => unknown, stepMs = 1_000): Promise<unknown> =>
  eventually(async () => {
    clock.advance(stepMs);
    return (await isSo()) || undefined;
  });

const finish = (provider: KeepingProvider, id: string, extra: object = {}): void => {
  const output = [said('done', 'msg_done')];
  const end = { status: 'completed', output, usage: USAGE, ...extra };
  provider.kept.set(id, { ...provider.kept.get(id), ...end });
};

const looks = (provider: KeepingProvider, id: string): number =>
  provider.asked('GET', `${PATH}/${id}`).length;

describe('a Response in the background', () => {
  it(
    verifies('responses.background', 'is charged once, when it is over, though nobody asks again'),
    async () => {
      const clock = createFakeClock();
      const gateway = await start('memory', { clock });
      const { body } = await ask(gateway);
      expect(body).toMatchObject({ status: 'queued', model: 'm/one', background: true });
      expect(body).not.toHaveProperty('account');
      expect(a.asked('POST', '/v1/chat/completions')).toEqual([]);
      const { id } = body;
      await later(clock, () => looks(a, id) >= 2);
      expect(await costs(gateway)).toEqual([]);
      finish(a, id);
      await later(clock, async () => (await costs(gateway)).length > 0);
      expect(await costs(gateway)).toEqual([COST]);
      const before = looks(a, id);
      for (let i = 0; i < 100; i++) clock.advance(2_000);
      const found = await gateway.call('GET', `${PATH}/${id}`);
      expect(found.body).toMatchObject({ status: 'completed', usage: USAGE });
      expect(looks(a, id)).toBe(before + 1);
      expect(await costs(gateway)).toEqual([COST]);
    },
  );

  it(
    verifies('responses.background', 'is charged by the first look that sees its end'),
    async () => {
      const gateway = await start('memory', { clock: createFakeClock() });
      const client = openaiClient(gateway);
      const made = await client.responses.create({ model: 'm/one', input: 'x', background: true });
      expect((await client.responses.retrieve(made.id)).status).toBe('queued');
      finish(a, made.id);
      const found = await Promise.all([1, 2, 3].map(() => client.responses.retrieve(made.id)));
      expect(found.map(({ output_text: text }) => text)).toEqual(['done', 'done', 'done']);
      expect(await costs(gateway)).toEqual([COST]);
    },
  );

  it(
    verifies('responses.background', 'survives kill -9 of the gateway, and is charged by the next'),
    async () => {
      const directory = await directoryOfTest();
      const first = await start('lmdb', { directory, binary: true });
      const { id } = (await ask(first)).body;
      first.child?.kill('SIGKILL');
      if (first.child) await once(first.child, 'exit');
      finish(a, id);
      const clock = createFakeClock(Date.now() + 60_000);
      const second = await start('lmdb', { directory, clock });
      await later(clock, async () => (await costs(second)).length > 0);
      const key = first.clientKey;
      const found = await second.call('GET', `${PATH}/${id}`, { key });
      expect(found.body).toMatchObject({ id, status: 'completed' });
      for (let i = 0; i < 20; i++) clock.advance(10_000);
      await second.call('GET', `${PATH}/${id}`, { key });
      expect(await costs(second)).toEqual([COST]);
    },
    40_000,
  );

  it.each([
    ['what its provider counted', { usage: { input_tokens: 70, output_tokens: 7 } }, '0.000077'],
    ['nothing where it put out nothing', {}, undefined],
  ])(
    verifies('responses.background', 'costs %s once it is cancelled'),
    async (_what, extra, cost) => {
      const gateway = await start('memory', { clock: createFakeClock() });
      const { id } = (await ask(gateway)).body;
      a.kept.set(id, { ...a.kept.get(id), ...extra });
      const cancelled = await openaiClient(gateway).responses.cancel(id);
      expect(cancelled.status).toBe('cancelled');
      expect(await costs(gateway)).toEqual(cost === undefined ? [] : [cost]);
      const charges = (await records(gateway)).filter(({ result }) => result === 'aborted');
      expect(charges).toMatchObject([{ surface: 'responses', model: 'm/one' }]);
    },
  );

  it(
    verifies('responses.background', 'is not deleted before its end, so that it is paid for'),
    async () => {
      const gateway = await start('memory', { clock: createFakeClock() });
      const { id } = (await ask(gateway)).body;
      const refused = await gateway.call('DELETE', `${PATH}/${id}`);
      expect(refused.status).toBe(409);
      expect(refused.body.error.message).toContain(`${PATH}/${id}/cancel`);
      finish(a, id);
      expect((await gateway.call('DELETE', `${PATH}/${id}`)).status).toBe(200);
      expect(await costs(gateway)).toEqual([COST]);
      expect(a.kept.has(id)).toBe(false);
    },
  );

  it(
    verifies(
      'responses.background',
      'streams from its first event, and goes on without its client',
    ),
    async () => {
      const clock = createFakeClock();
      const gateway = await start('memory', { clock });
      const leaving = new AbortController();
      const stream = await openaiClient(gateway).responses.create(
        { model: 'm/one', input: 'x', background: true, stream: true },
        { signal: leaving.signal },
      );
      let id = '';
      for await (const event of stream) {
        if (event.type === 'response.created') id = event.response.id;
        if (event.type === 'response.in_progress') break;
      }
      leaving.abort();
      expect(id).toBe('resp_a_1');
      finish(a, id);
      await later(clock, async () => (await costs(gateway)).length > 0);
      expect(await costs(gateway)).toEqual([COST]);
      const rest = await openaiClient(gateway).responses.retrieve(id, {
        stream: true,
        starting_after: 1,
      });
      const types: string[] = [];
      for await (const { type } of rest) types.push(type);
      expect(types.at(-1)).toBe('response.completed');
      expect(await costs(gateway)).toEqual([COST]);
    },
  );

  it(verifies('responses.background', 'is charged at the end of its stream'), async () => {
    const gateway = await start('memory');
    a.play = (to) => {
      beginEvents(to);
      const made = { id: 'resp_s', object: 'response', model: 'up', output: [said('x', 'msg_s')] };
      to.end(eventsOf({ ...made, status: 'completed', usage: USAGE }).join(''));
      return true;
    };
    await ask(gateway, { stream: true });
    await eventually(async () => (await costs(gateway)).length > 0);
    expect(await costs(gateway)).toEqual([COST]);
  });

  it(
    verifies('responses.background', 'is not begun twice where its provider may be at work'),
    async () => {
      const gateway = await start('memory');
      a.play = (to) => (to.socket?.destroy(), true);
      const failed = await ask(gateway);
      expect(failed.status).toBeGreaterThanOrEqual(500);
      expect(failed.headers.get('x-should-retry')).toBe('false');
      expect(b.asked('POST', PATH)).toEqual([]);
      a.play = (to) => (sendJson(to, 503, { error: { message: 'overloaded' } }), true);
      expect((await ask(gateway)).body.id).toBe('resp_b_1');
    },
  );

  it(
    verifies('responses.background', 'is refused with the reason where every route is translated'),
    async () => {
      const gateway = await start('memory');
      const { status, body } = await ask(gateway, { model: 'm/chat' });
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: 'unsupported_feature', param: 'background' });
      const run = await gateway.call('POST', '/v1/run', {
        body: { model: 'm/run', input: { input: 'x', background: true } },
      });
      expect(run).toMatchObject({ status: 400, body: { error: expect.anything() } });
      expect(a.seen).toEqual([]);
    },
  );
});
