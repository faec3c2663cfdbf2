import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createIdSource } from '../../../src/core/ids.ts';
import { createSealer } from '../../../src/core/seal.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import type { Envelope } from '../../../src/protocols/family.ts';
import { createIdempotencyRecords } from '../../../src/server/idempotency/records.ts';
import { withIdempotency } from '../../../src/server/idempotency/with-idempotency.ts';
import { createCallWorkers } from '../../../src/server/idempotency/workers.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { admitCall } from '../../../src/surfaces/admit-call.ts';
import { readKey } from '../../../src/surfaces/carriers.ts';
import { SELF } from '../../../src/surfaces/gate.ts';
import type { GateDeps } from '../../../src/surfaces/gate.ts';
import { answerExchange } from '../../../src/surfaces/http-exchange.ts';
import type { HttpExchange, Reply } from '../../../src/surfaces/http-exchange.ts';
import { createWorkerLease } from '../../../src/usage/ledger/worker-lease.ts';
import { roomyBudget } from '../../support/body-intake.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { principal } from '../../usage/usage-fixtures.ts';

const gate: GateDeps = {
  lookup: (key) => principal({ keyId: key }),
  rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
  concurrency: { enter: () => () => undefined },
};

const counted = (count: number | string) => ({ 'x-stainless-retry-count': String(count) });

describe('a call of a client that counts its attempts', () => {
  let store: Store;
  let server: Server;
  let envelope: Envelope;
  /** Calls that were made. */
  let calls: HttpExchange[];
  let act: (exchange: HttpExchange, number: number) => Promise<Reply>;
  beforeEach(async () => {
    store = openMemoryStore(systemClock);
    envelope = 'resource';
    calls = [];
    act = async (_, number) => ({ status: 201, body: { number } });
    const lease = createWorkerLease({ store, clock: createFakeClock(), worker: 'w1' });
    await lease.start();
    const records = createIdempotencyRecords({
      store,
      clock: systemClock,
      sealer: createSealer([Buffer.alloc(32, 7)]),
      workers: createCallWorkers({ worker: 'w1', lease, liveness: undefined }),
      report: expect.fail,
    });
    const ids = createIdSource(systemClock);
    const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const POST = async (exchange: HttpExchange) => {
        const key = readKey(['bearer'], exchange.request.headers, '');
        await admitCall(exchange, { key, need: SELF }, gate);
        return act(exchange, calls.push(exchange));
      };
      const [route] = withIdempotency([{ path: '/**', envelope, methods: { POST } }], {
        clock: systemClock,
        records,
        maxBodyBytes: 1_000,
      });
      const deps = { clock: systemClock, ids, bodies: roomyBudget(), onBug: expect.fail };
      const handler = route?.methods.POST ?? POST;
      const arrival = { request, response, envelope };
      const { status, headers, body } = await answerExchange(arrival, handler, deps);
      response.writeHead(status, headers).end(body);
    };
    server = createServer((request, response) => void serve(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  interface Sent {
    readonly path?: string;
    readonly key?: string;
    readonly signal?: AbortSignal;
  }

  async function post(
    count: number | string,
    { path = '/v1/agents', key = 'a', signal }: Sent = {},
  ) {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      body: '{}',
      headers: { authorization: `Bearer ${key}`, ...counted(count) },
      ...(signal && { signal }),
    });
    const { number } = (await response.json()) as { number: number };
    const isReplay = response.headers.get('idempotent-replayed') === 'true';
    return { number, isReplay, status: response.status };
  }

  const known = async (): Promise<number> => (await store.list({ prefix: ['idempotency'] })).length;
  const allTold = () => eventually(async () => (await known()) === 0);

  /** Sends a first attempt whose client leaves before it is answered; gives what lets the call go on. */
  async function lose(sent: Sent = {}): Promise<() => void> {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const earlier = act;
    act = async (_, number) => {
      act = earlier;
      await opened;
      return { status: 201, body: { number } };
    };
    const before = calls.length;
    const gone = new AbortController();
    const lost = post(0, { ...sent, signal: gone.signal });
    await eventually(() => calls.length === before + 1);
    gone.abort();
    await expect(lost).rejects.toThrow();
    await eventually(() => calls[before]?.response.destroyed === true);
    return open;
  }

  it('is not given the answer that another client has', async () => {
    expect(await post(0)).toMatchObject({ number: 1 });
    await allTold();
    expect(await post(1)).toEqual({ number: 2, isReplay: false, status: 201 });
    await allTold();
    expect(await post(2)).toMatchObject({ number: 3, isReplay: false });
  });

  it('is given what the first attempt made, whose answer was lost', async () => {
    const open = await lose();
    open();
    await eventually(async () => (await known()) === 1);
    expect(await post(1)).toEqual({ number: 1, isReplay: true, status: 201 });
    await allTold();
    expect(await post(1)).toMatchObject({ number: 2, isReplay: false });
  });

  it('waits for the first attempt whose client has left', async () => {
    const open = await lose();
    const again = post(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    open();
    expect(await again).toMatchObject({ number: 1, isReplay: true });
    expect(calls).toHaveLength(1);
  });

  it('is made once the one that was under way has been answered to its own client', async () => {
    let open = (): void => undefined;
    act = async (_, number) => {
      if (number === 1) await new Promise<void>((resolve) => (open = resolve));
      return { status: 201, body: { number } };
    };
    const other = post(0);
    await eventually(() => calls.length === 1);
    const again = post(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(calls).toHaveLength(1);
    open();
    expect(await other).toMatchObject({ number: 1 });
    expect(await again).toMatchObject({ number: 2, isReplay: false });
  });

  it('is given one of two lost answers alike, and the other is for the other client', async () => {
    (await lose())();
    (await lose())();
    await eventually(async () => (await known()) === 2);
    const answers = await Promise.all([post(1), post(1)]);
    expect(new Set(answers.map(({ number }) => number))).toEqual(new Set([1, 2]));
    expect(answers.every(({ isReplay }) => isReplay)).toBe(true);
    await allTold();
    expect(await post(1)).toMatchObject({ number: 3, isReplay: false });
  });

  it('is given a lost answer although the same was made for others meanwhile', async () => {
    (await lose())();
    expect(await post(0)).toMatchObject({ number: 2, isReplay: false });
    expect(await post(1)).toMatchObject({ number: 1, isReplay: true });
  });

  it('is given a lost answer again where that was lost too', async () => {
    (await lose())();
    await eventually(async () => (await known()) === 1);
    const gone = new AbortController();
    const lost = post(1, { signal: gone.signal });
    gone.abort();
    await expect(lost).rejects.toThrow();
    expect(await post(2)).toMatchObject({ number: 1, isReplay: true });
  });

  it('is not given what was lost by another key or at another path', async () => {
    (await lose())();
    expect(await post(1, { key: 'b' })).toMatchObject({ number: 2, isReplay: false });
    expect(await post(1, { path: '/v1/skills' })).toMatchObject({ number: 3, isReplay: false });
  });

  it('is made each time where it failed, sets a state or is no resource, and without a count', async () => {
    act = async (_, number) => ({ status: 503, body: { number } });
    await post(0);
    expect(await post(1)).toMatchObject({ number: 2, status: 503 });
    act = async (_, number) => ({ status: 201, body: { number } });
    for (const action of ['archive', 'pause', 'rotate', 'unpause']) {
      (await lose({ path: `/v1/deployments/depl_1/${action}` }))();
      expect(await known(), action).toBe(0);
    }
    await post('x');
    await post('1000');
    envelope = 'chat';
    (await lose({ path: '/v1/images/generations' }))();
    expect(await known()).toBe(0);
  });
});

describe('a gateway whose clients count their attempts', () => {
  let gateway: TestGateway;
  let agent: string;
  beforeAll(async () => {
    gateway = await startGateway({
      providers: [{ name: 'mock', type: 'mock' }],
      models: [{ name: 'm/one', routes: [{ provider: 'mock' }] }],
    });
    const made = await gateway.call('POST', '/v1/agents', { body: { name: 'A', model: 'm/one' } });
    agent = made.body.id;
  });
  afterAll(() => gateway.stop());

  const post = (path: string, body: unknown, count: number): Promise<Answer> =>
    gateway.call('POST', path, { body, headers: counted(count) });
  const isReplay = ({ headers }: Answer) => headers.has('idempotent-replayed');

  it('gives nobody the Session of another', async () => {
    const first = await post('/v1/sessions', { agent }, 0);
    const second = await post('/v1/sessions', { agent }, 1);
    expect(second.status, JSON.stringify(second.body)).toBe(first.status);
    expect(second.body.id).not.toBe(first.body.id);
    expect(isReplay(second)).toBe(false);
  });

  it('keeps each of two messages that read the same', async () => {
    const { body: session } = await post('/v1/sessions', { agent }, 0);
    const path = `/v1/sessions/${session.id}/events`;
    const say = { events: [{ type: 'user.message', content: [{ type: 'text', text: 'yes' }] }] };
    const first = await post(path, say, 0);
    expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
    expect(isReplay(await post(path, say, 1))).toBe(false);
    const { body } = await gateway.call('GET', `${path}?limit=100`);
    const said = body.data.filter(({ type }: { type: string }) => type === 'user.message');
    expect(said).toHaveLength(2);
  });

  it('pauses and triggers a Schedule whenever it is told to', async () => {
    const { body: schedule } = await post(
      '/v1/deployments',
      {
        name: 'Daily',
        agent_id: agent,
        schedule: { type: 'cron', expression: '0 9 * * *', timezone: 'UTC' },
        initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
      },
      0,
    );
    const path = `/v1/deployments/${schedule.id}`;
    await post(`${path}/pause`, {}, 0);
    await post(`${path}/unpause`, {}, 0);
    expect((await post(`${path}/pause`, {}, 1)).body.status).toBe('paused');
    expect((await gateway.call('GET', path)).body.status).toBe('paused');
    const run = await post(`${path}/runs`, {}, 0);
    expect(run.status, JSON.stringify(run.body)).toBeLessThan(300);
    const other = await post(`${path}/runs`, {}, 1);
    expect(other.body.id).not.toBe(run.body.id);
  });
});
