import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import {
  INTERACTIONS_PATH,
  interactionsModel,
  interactionsProvider,
  startScripted,
} from '../../support/interactions.ts';
import type { ScriptedProvider } from '../../support/interactions.ts';
import { sendJson } from '../../support/stage/upstream.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const USAGE = { total_input_tokens: 100, total_output_tokens: 20, total_tokens: 120 };
const COST = '0.00012';

let first: ScriptedProvider;
let second: ScriptedProvider;

beforeEach(async () => {
  first = await startScripted();
  second = await startScripted();
  onTestFinished(async () => {
    await first.close();
    await second.close();
  });
});

const down = (provider: ScriptedProvider): void => {
  provider.play = (response) => sendJson(response, 503, { error: { message: 'overloaded' } });
};

const config = (driver: string) => ({
  server: { store: { driver } },
  providers: [interactionsProvider('first', first.url), interactionsProvider('second', second.url)],
  models: [
    interactionsModel('g/m', 'first', {
      routes: [
        { provider: 'first', upstream_model: 'up' },
        { provider: 'second', upstream_model: 'up', priority: 1 },
      ],
    }),
  ],
});

async function start(driver: string, options: StartGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await startGateway(config(driver), options);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

const ask = (gateway: TestGateway, rest: object = {}, key = gateway.clientKey): Promise<Answer> =>
  gateway.call('POST', INTERACTIONS_PATH, { body: { model: 'g/m', input: 'x', ...rest }, key });

const creates = ({ seen }: ScriptedProvider): number =>
  seen.filter(({ method }) => method === 'POST').length;

const costs = async (gateway: TestGateway): Promise<string[]> => {
  const { body } = await gateway.admin('GET', '/admin/v1/requests?limit=1000');
  return (body.data as RequestRecord[])
    .map(({ cost }) => cost ?? 'unpriced')
    .filter((cost) => cost !== '0.00');
};

/** Lets time pass until something is so. */
const later = (clock: FakeClock, isSo: () => unknown, stepMs = 1_000): Promise<unknown> =>
  eventually(async () => {
    clock.advance(stepMs);
    return (await isSo()) || undefined;
  });

describe('background work that nobody asks for', () => {
  it(
    verifies('interactions.background.durable', 'is seen to its end and charged for'),
    async () => {
      const clock = createFakeClock();
      const gateway = await start('memory', { clock });
      first.found = first.created;
      const { id } = (await ask(gateway, { background: true })).body;
      await later(clock, () => first.looks(id) >= 2);
      expect(await costs(gateway)).toEqual([]);
      first.found = { id, status: 'completed', usage: USAGE };
      await later(clock, async () => (await costs(gateway)).length > 0);
      expect(await costs(gateway)).toEqual([COST]);
      const looks = first.looks(id);
      for (let i = 0; i < 100; i++) clock.advance(2_000);
      const answer = await gateway.call('GET', `${INTERACTIONS_PATH}/${id}`);
      expect(answer.body).toEqual(first.found);
      expect(first.looks(id)).toBe(looks);
    },
  );

  it('is asked for less and less often, and again when its provider was away', async () => {
    const clock = createFakeClock();
    const gateway = await start('memory', { clock });
    first.found = '{"broken":';
    const { id } = (await ask(gateway, { background: true })).body;
    const startedAt = clock.monotonic();
    await later(clock, () => first.looks(id) >= 8);
    expect(clock.monotonic() - startedAt).toBeGreaterThan(8 * 5_000);
    first.found = { id, status: 'completed', usage: USAGE };
    await later(clock, async () => (await costs(gateway)).length > 0);
  });

  it('is closed without a charge when its provider has lost it', async () => {
    const clock = createFakeClock();
    const gateway = await start('memory', { clock });
    const { id } = (await ask(gateway, { background: true })).body;
    await later(clock, () => first.looks(id) >= 1);
    const startedAt = clock.monotonic();
    await later(clock, () => clock.monotonic() - startedAt > 15 * 60_000, 30_000);
    const looks = first.looks(id);
    first.found = { id, status: 'completed', usage: USAGE };
    for (let i = 0; i < 20; i++) {
      clock.advance(60_000);
      await gateway.call('GET', '/healthz');
    }
    expect(first.looks(id)).toBe(looks);
    expect(await costs(gateway)).toEqual([]);
  });

  it(
    verifies(
      'interactions.background.durable',
      'is found again after a restart, and charged for then',
    ),
    async () => {
      const place = await directoryOfTest();
      const before = await start('lmdb', { directory: place });
      first.found = first.created;
      const { id } = (await ask(before, { background: true })).body;
      await before.stop();
      const clock = createFakeClock(Date.now() + 60_000);
      const after = await start('lmdb', { directory: place, clock });
      const path = `${INTERACTIONS_PATH}/${id}`;
      expect((await after.call('GET', path, { key: before.clientKey })).body).toEqual(first.found);
      first.found = { id, status: 'completed', usage: USAGE };
      await later(clock, async () => (await costs(after)).length > 0);
      const found = await after.call('GET', path, { key: before.clientKey });
      expect(found.body).toEqual(first.found);
      expect(await costs(after)).toEqual([COST]);
    },
  );
});

describe('an interaction that continues another', () => {
  /** Made by the second account, because the first was down then. */
  const createdBySecond = async (gateway: TestGateway): Promise<string> => {
    const image = { type: 'image', mime_type: 'image/png', data: 'iVBORw0KGgo=' };
    const steps = [{ type: 'model_output', content: [image] }];
    second.created = { id: 'v1_second', status: 'completed', steps, usage: USAGE };
    down(first);
    const { body } = await ask(gateway);
    expect(body.id).toBe('v1_second');
    first.play = undefined;
    first.created = { id: 'v1_first', status: 'completed', steps: [] };
    return body.id;
  };

  it(
    verifies('interactions.previous.affinity', 'goes to the account that has that one'),
    async () => {
      const gateway = await start('memory');
      const previous = await createdBySecond(gateway);
      expect((await ask(gateway)).body.id).toBe('v1_first');
      for (const stream of [false, true]) {
        const before = creates(second);
        await ask(gateway, { previous_interaction_id: previous, stream });
        expect(creates(second)).toBe(before + 1);
      }
    },
  );

  it(
    verifies(
      'interactions.previous.affinity',
      'goes there after a restart and from another process',
    ),
    async () => {
      const place = await directoryOfTest();
      const before = await start('lmdb', { directory: place });
      const previous = await createdBySecond(before);
      const key = before.clientKey;
      await before.stop();
      const after = await start('lmdb', { directory: place });
      const other = await start('lmdb', { directory: place, binary: true });
      for (const gateway of [after, other]) {
        const answer = await ask(gateway, { previous_interaction_id: previous }, key);
        expect(answer.body.id).toBe('v1_second');
      }
      const made = await ask(other, {}, key);
      const found = await after.call('GET', `${INTERACTIONS_PATH}/${made.body.id}`, { key });
      expect(found).toMatchObject({ status: 200, body: first.created });
    },
  );

  it(
    verifies(
      'interactions.previous.fails-not-switches',
      'fails when that one is unknown or of another key',
    ),
    async () => {
      const gateway = await start('memory');
      const previous = await createdBySecond(gateway);
      const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'other' });
      const calls = creates(first) + creates(second);
      for (const [id, key] of [
        ['v1_never_made', gateway.clientKey],
        [previous, made.body.value],
      ] as const) {
        const answer = await ask(gateway, { previous_interaction_id: id }, key);
        expect(answer.status).toBe(404);
        expect(answer.body.error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
      }
      expect(creates(first) + creates(second)).toBe(calls);
    },
  );

  it(
    verifies(
      'interactions.previous.fails-not-switches',
      'fails when the provider of that one has forgotten it, is down or disabled',
    ),
    async () => {
      const gateway = await start('memory');
      const previous_interaction_id = await createdBySecond(gateway);
      const calls = creates(first);
      second.play = (response) =>
        sendJson(response, 404, { error: { code: 404, message: 'no such interaction' } });
      expect((await ask(gateway, { previous_interaction_id })).status).toBe(404);
      down(second);
      const failed = await ask(gateway, { previous_interaction_id });
      expect(failed.status).toBe(503);
      expect(failed.body.error).toMatchObject({ code: 503, status: 'UNAVAILABLE' });
      second.play = undefined;
      const { body } = await gateway.admin('GET', '/admin/v1/providers?limit=100');
      const { id } = body.data.find(({ name }: { name: string }) => name === 'second');
      await gateway.admin('PATCH', `/admin/v1/providers/${id}`, { enabled: false });
      await eventually(async () => {
        const before = creates(second);
        const { status } = await ask(gateway, { previous_interaction_id });
        return status === 503 && creates(second) === before;
      });
      expect(creates(first)).toBe(calls);
      const path = `${INTERACTIONS_PATH}/${previous_interaction_id}`;
      const kept = await gateway.call('GET', path);
      expect(kept).toMatchObject({ status: 200, body: { status: 'completed', usage: USAGE } });
      expect(second.looks(previous_interaction_id)).toBe(0);
    },
  );
});
