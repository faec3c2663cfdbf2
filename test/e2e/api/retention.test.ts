import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { jobKey, toChangeOps } from '../../../src/jobs/job-rows.ts';
import type { JobRow } from '../../../src/jobs/job-rows.ts';
import { metricsText } from '../../../src/server/process/metrics.ts';
import type { Key, Store } from '../../../src/store/store.ts';
import { requestKey, REQUESTS } from '../../../src/usage/ledger/ledger-keys.ts';
import type { EndRow } from '../../../src/usage/requests/request-row.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const HOUR = 3_600_000;
const ANSWERS = 3;
const HELLO = { messages: [{ role: 'user', content: 'hello' }] };
const SAY = { type: 'user.message', content: [{ type: 'text', text: 'hello' }] };

const model = (name: string, type = 'llm') => ({
  name: `v/${name}`,
  type,
  pricing: { per_call: '0.5' },
  routes: [{ provider: 'mock', upstream_model: name }],
});

const CONFIG = {
  providers: [
    {
      name: 'mock',
      type: 'mock',
      mock: {
        rules: [
          { match: { model: 'never' }, reply: { delay_ms: 600_000 } },
          { match: { model: 'film' }, reply: { polls: 1 } },
          { match: { model: 'endless' }, reply: { polls: 1_000 } },
        ],
      },
    },
  ],
  models: [model('chat'), model('never'), model('film', 'video'), model('endless', 'video')],
};

/** The job of a kind falls due, and whoever takes such jobs notices. */
async function makeDue(store: Store, kind: string, now = Date.now()): Promise<void> {
  const entry = await store.get<JobRow>(jobKey(kind, kind));
  if (!entry) throw new Error(`no job ${kind}`);
  const { value: row, version } = entry;
  // It may have begun by itself.
  if (row.owner !== null) return;
  await store.commit(toChangeOps({ kind, id: kind, row, version }, { ...row, at: now }));
}

describe('a gateway that keeps things for an hour', () => {
  let gateway: TestGateway;
  /** Ahead of the clock of the machine by so much. */
  let aheadMs = 0;

  beforeAll(async () => {
    const clock = {
      ...systemClock,
      now: () => Date.now() + aheadMs,
      monotonic: () => performance.now() + aheadMs,
    };
    const retention = { events: '1h', records: '1h', runs: '1h', results: '1h' };
    const metrics = { listen: { port: 0 } };
    gateway = await startGateway(
      { ...CONFIG, server: { retention, metrics, drain: '1s' } },
      { clock },
    );
  });
  afterAll(() => gateway.stop());

  const get = async (path: string, status = 200): Promise<any> => {
    const answer = await gateway.call('GET', path);
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBe(status);
    return answer.body;
  };
  const post = async (path: string, body: unknown = {}): Promise<any> => {
    const answer = await gateway.call('POST', path, { body });
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };
  const untilIdle = (id: string): Promise<any> =>
    eventually(async () => {
      const session = await get(`/v1/sessions/${id}`);
      return session.status === 'idle' && session;
    });
  const newSession = async (agent: string): Promise<string> => {
    const { id } = await post('/v1/sessions', { agent });
    await post(`/v1/sessions/${id}/events`, { events: [SAY] });
    await untilIdle(id);
    return id;
  };
  const untilOver = (path: string, status: string): Promise<any> =>
    eventually(async () => {
      const found = await get(path);
      return found.status === status && found;
    });
  const sweep = async (): Promise<void> => {
    const { store } = gateway.gateway!;
    for (const kind of ['retention-events', 'retention-records', 'retention-runs'])
      await makeDue(store, kind, Date.now() + aheadMs);
  };

  it(
    verifies('store.retention', 'removes what is over and nothing else, and says what it removed'),
    async () => {
      const { id: agent } = await post('/v1/agents', { name: 'helper', model: 'v/chat' });
      const [closed, open] = [await newSession(agent), await newSession(agent)];
      await post(`/v1/sessions/${closed}/archive`);
      const { id: schedule } = await post('/v1/deployments', {
        name: 'report',
        agent,
        initial_events: [SAY],
      });
      const drun = async (): Promise<any> => post(`/v1/deployments/${schedule}/runs`);
      const [first, second] = [await drun(), await drun()];
      await untilIdle(second.session_id);
      const chat = await gateway.chat('v/chat');
      expect(chat.status).toBe(200);
      const made = async (name: string): Promise<string> =>
        (await post('/v1/run', { model: name, input: HELLO, async: true })).id;
      const [done, waiting] = [await made('v/chat'), await made('v/never')];
      await untilOver(`/v1/run/${done}`, 'succeeded');
      const film = async (name: string): Promise<string> =>
        (await post('/v1/videos', { model: name, prompt: 'a fox' })).id;
      const [shot, running] = [await film('v/film'), await film('v/endless')];
      await untilOver(`/v1/videos/${shot}`, 'completed');
      const balance = await get('/v1/account/balance');
      const used = await get('/v1/account/usage?group_by=day,key,model');
      const count = (await get('/v1/account/executions?limit=100')).data.length;
      const seen = await get(`/v1/sessions/${open}/events`);

      // Nothing is old enough: the sweeps find nothing.
      await sweep();
      await eventually(async () => {
        const rows = await gateway.gateway!.store.list<JobRow>({ prefix: ['job'] });
        return rows
          .filter(({ key }) => String(key[1]).startsWith('retention'))
          .every(({ value }) => value.owner === null && value.at > Date.now() + HOUR / 2);
      });
      expect((await get('/v1/account/executions?limit=100')).data).toHaveLength(count);
      expect(gateway.log()).not.toContain('removed by retention');

      aheadMs += 2 * HOUR;
      const young = await gateway.chat('v/chat');
      await sweep();
      const lineOf = (kind: string) =>
        new RegExp(`removed by retention kind=${kind} removed=(\\d+)`).exec(gateway.log())?.[1];
      await eventually(() => ['events', 'records', 'runs'].every(lineOf));
      expect(await get(`/v1/sessions/${closed}`)).toMatchObject({
        status: 'idle',
        events_removed_at: expect.any(String),
      });
      expect(await get(`/v1/sessions/${closed}/events`)).toEqual({
        data: [],
        next_page: null,
        events_removed_at: expect.any(String),
      });
      expect(await get(`/v1/sessions/${open}/events`)).toEqual(seen);
      await post(`/v1/sessions/${open}/events`, { events: [SAY] });
      await untilIdle(open);
      await get(`/v1/deployment_runs/${first.id}`, 404);
      expect(await get(`/v1/deployment_runs/${second.id}`)).toEqual(second);
      expect((await get(`/v1/deployments/${schedule}/runs`)).data).toEqual([second]);
      expect(await get(`/v1/sessions/${first.session_id}`)).toMatchObject({ status: 'idle' });
      await get(`/v1/run/${done}`, 404);
      await get(`/v1/videos/${shot}`, 404);
      expect(await get(`/v1/run/${waiting}`)).toMatchObject({ status: 'running' });
      expect(await get(`/v1/videos/${running}`)).toMatchObject({ status: 'in_progress' });
      const left = await get('/v1/account/executions?limit=100');
      const removed = Number(lineOf('records'));
      expect(removed).toBeGreaterThanOrEqual(count - 1);
      expect(left.removed_before).toEqual(expect.any(String));
      expect(left.data.map(({ id }: any) => id)).toContain(young.headers.get('x-request-id'));
      // The money of what is gone is still there: one call of 0.5 and one turn came since.
      const spent = (await get('/v1/account/balance')).spent;
      expect(Number(spent)).toBe(Number(balance.spent) + 1);
      const requests = (rows: any) =>
        rows.data.reduce((sum: number, row: any) => sum + row.requests, 0);
      const now = await get('/v1/account/usage?group_by=day,key,model');
      expect(requests(now)).toBe(requests(used) + 2);
      const { text } = await metricsText();
      expect(text).toContain(`gateway_removed_total{kind="records"} ${removed}`);
    },
  );
});

describe('a gateway that removes very many records', () => {
  it(verifies('store.retention', 'answers as it always does'), async () => {
    // Twelve steps of the removal, four for each answer.
    const total = 6_000;
    const gateway = await startGateway({
      ...CONFIG,
      server: { store: { driver: 'lmdb' }, retention: { records: '1h' } },
    });
    try {
      const { store } = gateway.gateway!;
      const { oldest, newest } = await fill(store, total);
      const isThere = async (key: Key) => (await store.get(key)) !== undefined;
      await makeDue(store, 'retention-records');
      await eventually(async () => !(await isThere(oldest)));
      // Each of these begins and ends while old ones are being removed.
      for (let answered = 0; answered < ANSWERS; answered++) {
        const { status } = await gateway.chat('v/chat');
        expect(status).toBe(200);
        expect(await isThere(newest), `after ${answered} answers`).toBe(true);
      }
      await eventually(async () => !(await isThere(newest)));
      expect(await store.list({ prefix: REQUESTS })).toHaveLength(ANSWERS);
    } finally {
      await gateway.stop();
    }
  });
});

/** Records of two hours ago. */
async function fill(store: Store, total: number): Promise<{ oldest: Key; newest: Key }> {
  const at = Date.now() - 2 * HOUR;
  const ids = createIdSource({ ...systemClock, now: () => at });
  const start = [at, 'org_1', 'key_1', 'first', 'chat', 'v/chat', false] as const;
  const usage = [0, 0, 0, 0, 0, 0, 0, 0];
  const value: EndRow = [start, 200, 'ok', null, null, [], usage, false, 0, [], 1, 1, 1, null];
  for (let made = 0; made < total; made += 1_000) {
    const keys = Array.from({ length: 1_000 }, () => requestKey(ids.next('req')));
    await store.commit(keys.map((key) => ({ type: 'put', key, value })));
  }
  const [first] = await store.list({ prefix: REQUESTS, limit: 1 });
  const [last] = await store.list({ prefix: REQUESTS, limit: 1, reverse: true });
  return { oldest: first?.key ?? [], newest: last?.key ?? [] };
}
