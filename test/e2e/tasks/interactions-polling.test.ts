import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../src/store/store.ts';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, CallOptions, TestGateway } from '../../support/gateway.ts';
import {
  INTERACTIONS_PATH,
  getBytes,
  interactionsModel,
  interactionsProvider,
  startScripted,
} from '../../support/interactions.ts';
import type { ScriptedProvider } from '../../support/interactions.ts';
import { openRaw } from '../../support/raw-client.ts';
import { beginEvents } from '../../support/stage/upstream.ts';

const USAGE = { total_input_tokens: 100, total_output_tokens: 20, total_tokens: 120 };
const TEXT = { type: 'model_output', content: [{ type: 'text', text: 'done' }] };

let ids = 0;
let upstream: ScriptedProvider;
let gateway: TestGateway;
/** Its wait is over at once. */
let hasty: TestGateway;
let id: string;

beforeAll(async () => {
  upstream = await startScripted();
  const config = (wait: string) => ({
    server: { limits: { interaction_wait: wait } },
    providers: [interactionsProvider('up', upstream.url)],
    models: [
      interactionsModel('g/m', 'up'),
      interactionsModel('g/dear', 'up', { pricing: { per_call: '1' } }),
      interactionsModel('g/named', 'up', {
        routes: [{ provider: 'up', upstream_model: 'up', response_model: 'logical' }],
      }),
    ],
  });
  gateway = await startGateway(config('20s'));
  hasty = await startGateway(config('300ms'));
});
afterAll(async () => {
  await gateway.stop();
  await hasty.stop();
  await upstream.close();
});
beforeEach(() => {
  id = `v1_${++ids}`;
  upstream.created = { id, model: 'up', status: 'in_progress' };
  upstream.found = { id, model: 'up', status: 'in_progress' };
  upstream.play = undefined;
});

const state = (status: string, rest: object = {}) => ({ id, model: 'up', status, ...rest });
const create = (body: object = {}, options: CallOptions = {}, at = gateway) =>
  at.call('POST', INTERACTIONS_PATH, {
    body: { model: 'g/m', input: 'hello', ...body },
    ...options,
  });
const get = (options: CallOptions = {}, query = '') =>
  gateway.call('GET', `${INTERACTIONS_PATH}/${id}${query}`, options);
const createKey = async (fields: object): Promise<string> => {
  const made = await gateway.admin('POST', '/admin/v1/keys', {
    name: `k${Math.random()}`,
    ...fields,
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.value;
};
/** Final records of a model since an instant, newest first. */
const records = async (model: string, since: string): Promise<RequestRecord[]> => {
  const { body } = await gateway.admin('GET', `/admin/v1/requests?limit=1000&model=${model}`);
  return (body.data as RequestRecord[]).filter(
    ({ created_at: at, result }) => at >= since && result !== 'pending',
  );
};
const costs = async (since: string): Promise<string[]> =>
  (await records('g/m', since))
    .map(({ cost }) => cost ?? 'unpriced')
    .filter((cost) => cost !== '0.00');
const now = (): string => new Date().toISOString();
const COST = '0.00012';

describe('work that goes on', () => {
  it(
    verifies(
      'interactions.background.durable',
      'interactions.create.location',
      'interactions.id.upstream',
      'is told at once in the background, under the path that answers its polls',
    ),
    async () => {
      const answer = await create({ background: true });
      expect(answer).toMatchObject({ status: 200, body: upstream.created });
      expect(answer.headers.get('location')).toBe(`${INTERACTIONS_PATH}/${id}`);
      const found = await gateway.call('GET', answer.headers.get('location') ?? '');
      expect(found).toMatchObject({ status: 200, body: upstream.found });
      expect(upstream.looks(id)).toBe(1);
    },
  );

  it(
    verifies(
      'interactions.create.success-200',
      'is waited for by a call that is to have the answer',
    ),
    async () => {
      const since = now();
      const waiting = create();
      await eventually(() => upstream.looks(id) > 0);
      upstream.found = state('completed', { steps: [TEXT], usage: USAGE });
      const answer = await waiting;
      expect(answer).toMatchObject({ status: 200, body: upstream.found });
      expect(answer.headers.get('location')).toBeNull();
      expect(await costs(since)).toEqual([COST]);
      expect((await get()).body).toEqual(upstream.found);
      expect(await costs(since)).toEqual([COST]);
    },
  );

  it(
    verifies(
      'interactions.create.success-200',
      'interactions.create.location',
      'is told as it stands when the wait is over',
    ),
    async () => {
      const partial = state('in_progress', { steps: [TEXT], usage: USAGE });
      upstream.found = partial;
      const startedAt = performance.now();
      const answer = await create({}, { key: hasty.clientKey }, hasty);
      expect(performance.now() - startedAt).toBeGreaterThan(290);
      expect(answer).toMatchObject({ status: 200, body: { id, status: 'in_progress' } });
      expect(answer.headers.get('location')).toBe(`${INTERACTIONS_PATH}/${id}`);
      expect(answer.body).not.toHaveProperty('steps');
    },
  );

  it('is not waited for where the caller has to act', async () => {
    upstream.created = state('requires_action', {
      steps: [{ type: 'function_call' }],
      usage: USAGE,
    });
    const since = now();
    const answer = await create();
    expect(answer.body).toEqual(upstream.created);
    expect(answer.headers.get('location')).toBeNull();
    expect(upstream.looks(id)).toBe(0);
    await eventually(async () => (await costs(since)).join() === COST);
  });

  it('is no longer waited for when the client leaves', async () => {
    const left = new AbortController();
    const gone = create({}, { signal: left.signal }).catch(() => undefined);
    await eventually(() => upstream.looks(id) > 0);
    left.abort();
    await gone;
    upstream.found = state('completed', { steps: [TEXT], usage: USAGE });
    expect((await get()).body).toEqual(upstream.found);
  });

  it('is not told before it is recorded', async () => {
    const store = gateway.gateway?.store;
    if (!store) throw new Error('runs in process');
    const broken = vi
      .spyOn(store, 'commit')
      .mockRejectedValue(new StoreError('unavailable', 'gone'));
    const answer = await create({ background: true }).finally(() => broken.mockRestore());
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(JSON.stringify(answer.body)).not.toContain(id);
    await eventually(async () => (await create({ background: true })).status === 200);
  });
});

describe('a poll', () => {
  it(
    verifies('interactions.get.non-terminal-lean', 'shows nothing partial of what is running'),
    async () => {
      await create({ background: true });
      upstream.found = `{ "id":"${id}","status":"in_progress","outputs":[1],"n":1.0, "steps":[{"type":"model_output"}],"output_text":"par","usage":{"total_tokens":5},"updated":"x" }`;
      const { body } = await getBytes(gateway, id);
      expect(body.toString()).toBe(`{ "id":"${id}","status":"in_progress","n":1.0,"updated":"x" }`);
    },
  );

  it(
    verifies('interactions.get.terminal-media', 'gives several megabytes as they are'),
    async () => {
      await create({ background: true });
      const data = Buffer.alloc(6 * 1024 * 1024, 7).toString('base64');
      const image = { type: 'image', mime_type: 'image/png', data };
      upstream.found = state('completed', { steps: [{ content: [image] }], usage: USAGE, n: 1 });
      for (let i = 0; i < 2; i++) {
        const { body } = await getBytes(gateway, id);
        expect(body.equals(Buffer.from(JSON.stringify(upstream.found)))).toBe(true);
      }
    },
  );

  it(
    verifies(
      'interactions.get.lossy-fallback',
      'tells the structure of what its provider has forgotten, without its media',
    ),
    async () => {
      const image = { type: 'image', mime_type: 'image/png', data: 'iVBORw0KGgo=' };
      const steps = [{ type: 'model_output', content: [{ type: 'text', text: 'see' }, image] }];
      for (const background of [true, false]) {
        id = `v1_${++ids}`;
        const whole = state('completed', { steps, usage: USAGE });
        upstream.created = background ? state('in_progress') : whole;
        upstream.found = whole;
        await create({ background });
        expect((await get()).body).toEqual(whole);
        upstream.found = undefined;
        const { status, body } = await get();
        expect(status).toBe(200);
        expect(body).toMatchObject({ id, status: 'completed', usage: USAGE, model: 'up' });
        expect(body.steps[0].content).toEqual([
          { type: 'text', text: 'see' },
          { type: 'image', mime_type: 'image/png' },
        ]);
      }
    },
  );

  it(
    verifies('interactions.status.handling', 'asks nobody about what has ended and misses nothing'),
    async () => {
      for (const status of ['completed', 'failed', 'cancelled', 'incomplete']) {
        id = `v1_${++ids}`;
        upstream.created = state('in_progress');
        await create({ background: true });
        upstream.found = `{"id":"${id}", "status":"${status}","steps":[],"n":1.0}`;
        for (let i = 0; i < 3; i++)
          expect((await getBytes(gateway, id)).body.toString()).toBe(upstream.found);
        expect(upstream.looks(id)).toBe(1);
      }
    },
  );

  it(
    verifies(
      'interactions.status.handling',
      'refreshes what goes on, and passes on what it does not know',
    ),
    async () => {
      await create({ background: true });
      for (const status of ['in_progress', 'queued', 'in_progress', 'requires_action', 'odd']) {
        const since = upstream.looks(id);
        upstream.found = state(status, { n: since });
        expect((await get()).body).toEqual(upstream.found);
        expect(upstream.looks(id)).toBe(since + 1);
      }
    },
  );

  it(
    verifies(
      'interactions.get.same-key-only',
      'resource.org-isolation',
      'finds nothing for another key, of whatever organization',
    ),
    async () => {
      await create({ background: true });
      const organization = await gateway.admin('POST', '/admin/v1/organizations', {
        name: `o${id}`,
      });
      const others = [
        await createKey({}),
        await createKey({ organization: organization.body.id }),
        gateway.adminKey,
      ];
      for (const key of others) {
        const answer = await get({ key });
        expect(answer.status).toBe(404);
        expect(answer.body.error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
      }
      expect((await get({ key: '' })).status).toBe(401);
      expect(upstream.looks(id)).toBe(0);
      id = 'v1_never_made';
      expect((await get()).status).toBe(404);
      expect(upstream.looks(id)).toBe(0);
      expect((await gateway.call('GET', `${INTERACTIONS_PATH}/%E0%A4%A`)).status).toBe(404);
    },
  );

  it(
    verifies('interactions.get.stream-param', 'takes stream=false and no other stream'),
    async () => {
      await create({ background: true });
      expect((await get({}, '?stream=false')).status).toBe(200);
      for (const value of ['true', 'True', '1', 'yes']) {
        const answer = await get({}, `?stream=${value}`);
        expect(answer.status).toBe(400);
        expect(answer.body.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
      }
    },
  );

  it('shows the logical model where the route asks for it', async () => {
    const { body } = await create({ model: 'g/named', background: true });
    expect(body.model).toBe('g/named');
    expect((await get()).body.model).toBe('g/named');
    upstream.found = state('completed');
    for (let i = 0; i < 2; i++) expect((await get()).body.model).toBe('g/named');
  });

  it('tells of a provider that fails, and finds the interaction again later', async () => {
    await create({ background: true });
    upstream.found = '{"status":';
    expect((await get()).status).toBe(502);
    upstream.found = state('completed');
    expect((await get()).body.status).toBe('completed');
  });

  it('finds nothing of what was not to be stored', async () => {
    upstream.created = state('completed', { steps: [TEXT] });
    expect((await create({ store: false })).status).toBe(200);
    expect((await get()).status).toBe(404);
    id = `v1_${++ids}`;
    upstream.created = state('in_progress');
    await create({ store: false, background: true });
    upstream.found = state('completed', { steps: [TEXT], usage: USAGE });
    expect((await get()).body).toEqual(upstream.found);
    upstream.found = undefined;
    expect((await get()).status).toBe(404);
  });
});

describe('what it costs', () => {
  it(
    verifies('interactions.status.handling', 'is charged once, however many see the end'),
    async () => {
      const since = now();
      await create({ background: true });
      expect(await costs(since)).toEqual([]);
      upstream.found = state('completed', { steps: [TEXT], usage: USAGE });
      await Promise.all(Array.from({ length: 20 }, () => get()));
      expect(await costs(since)).toEqual([COST]);
      const charge = (await records('g/m', since)).find(({ cost }) => cost === COST);
      expect(charge).toMatchObject({
        surface: 'interactions',
        result: 'ok',
        estimated: false,
        usage: { input_tokens: 100, output_tokens: 20 },
        answered_by: { model: 'g/m', provider: 'up', upstream_model: 'up' },
      });
    },
  );

  it('is an estimate where the provider counts nothing, and nothing for a failure', async () => {
    const since = now();
    await create({ background: true });
    upstream.found = state('completed', { steps: [TEXT] });
    await get();
    expect((await records('g/m', since)).filter(({ estimated }) => estimated)).toHaveLength(1);
    for (const background of [true, false]) {
      id = `v1_${++ids}`;
      const failed = state('failed', { errors: [{ code: 'INTERNAL' }] });
      upstream.created = background ? state('in_progress') : failed;
      upstream.found = failed;
      const later = now();
      const answer = await create({ background });
      expect(answer.status).toBe(200);
      expect((await get()).body.status).toBe('failed');
      if (background) {
        const results = (await records('g/m', later)).map(({ result }) => result);
        expect(results).toContain('error');
      }
      await eventually(async () => (await records('g/m', later)).length > 0);
      expect(await costs(later)).toEqual([]);
    }
  });

  it('is kept back from the limit of the key until the end', async () => {
    const key = await createKey({ spending_limit: '1.5' });
    const ask = (): Promise<Answer> => create({ model: 'g/dear', background: true }, { key });
    expect((await ask()).status).toBe(200);
    const first = id;
    expect((await ask()).status).toBe(403);
    upstream.found = state('failed');
    expect((await get({ key })).body.status).toBe('failed');
    id = `v1_${++ids}`;
    upstream.created = state('in_progress');
    expect((await ask()).status).toBe(200);
    upstream.found = state('completed');
    expect((await get({ key })).body.status).toBe('completed');
    expect((await ask()).status).toBe(403);
    expect(first).not.toBe(id);
  });
});

describe('a stream', () => {
  it('can be asked for while it runs, and is paid for by its own call', async () => {
    const since = now();
    let end: (() => void) | undefined;
    const event = (type: string, rest: object): string =>
      `event: ${type}\ndata: ${JSON.stringify({ event_type: type, ...rest })}\n\n`;
    upstream.play = (response) => {
      beginEvents(response);
      response.write(event('interaction.created', { interaction: state('in_progress') }));
      response.write(event('step.delta', { index: 0, delta: { type: 'text', text: 'do' } }));
      end = () =>
        response.end(
          event('interaction.completed', { interaction: state('completed', { usage: USAGE }) }),
        );
    };
    const stream = await openRaw(`${gateway.url}${INTERACTIONS_PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.clientKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'g/m', input: 'x', stream: true }),
    });
    await eventually(() => stream.text().includes('step.delta'));
    expect((await get()).body).toEqual(upstream.found);
    end?.();
    await stream.ended;
    await eventually(async () => (await costs(since)).join() === COST);
    upstream.found = state('completed', { steps: [TEXT], usage: USAGE });
    const before = upstream.looks(id);
    for (let i = 0; i < 3; i++) expect((await get()).body).toEqual(upstream.found);
    expect(upstream.looks(id)).toBe(before + 1);
    expect(await costs(since)).toEqual([COST]);
  });
});
