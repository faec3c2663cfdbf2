import { Readable } from 'node:stream';
import { ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { createSealer } from '../../../src/core/seal.ts';
import type { Envelope } from '../../../src/protocols/family.ts';
import { createIdempotencyRecords } from '../../../src/server/idempotency/records.ts';
import { withIdempotency } from '../../../src/server/idempotency/with-idempotency.ts';
import { createCallWorkers } from '../../../src/server/idempotency/workers.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { admitCall } from '../../../src/surfaces/admit-call.ts';
import { readKey } from '../../../src/surfaces/carriers.ts';
import { SELF } from '../../../src/surfaces/gate.ts';
import type { GateDeps, Need } from '../../../src/surfaces/gate.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import type { Handler, HttpExchange, Reply } from '../../../src/surfaces/http-exchange.ts';
import { createWorkerLease } from '../../../src/usage/ledger/worker-lease.ts';
import { bodySource } from '../../support/body-intake.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { principal } from '../../usage/usage-fixtures.ts';

const SEALING_KEY = Buffer.alloc(32, 7);
const DAY = 86_400_000;
const settled = () => new Promise((resolve) => setImmediate(resolve));

interface Sent {
  readonly body?: string;
  readonly path?: string;
  readonly headers?: IncomingHttpHeaders;
}

let clock: FakeClock;
let store: Store;
/** What the handler demands of a key. */
let need: Need;
/** How often the gate asked for each. */
let asked: { platform: number; key: number; places: number };
let isKeyFull: boolean;
let calls: string[];
/** Rights of every key, as they are by now. */
let rights: Pick<Principal, 'scopes' | 'role'>;
/** What the handler does; by default it numbers its answers. */
let act: (exchange: HttpExchange) => Promise<Reply>;
let post: (sent?: Sent) => Promise<Reply>;

/** Sends to a route of its own gateway. */
async function serve(path = '/v1/agents', envelope: Envelope = 'resource') {
  clock = createFakeClock();
  calls = [];
  rights = { scopes: new Set(['agents', 'models']), role: null };
  act = async () => ({ status: 201, headers: { 'x-number': String(calls.length) } });
  need = SELF;
  asked = { platform: 0, key: 0, places: 0 };
  isKeyFull = false;
  const gate: GateDeps = {
    lookup: (key) => (key === 'unknown' ? 'unknown' : principal({ keyId: key, ...rights })),
    rates: {
      isPlatformFull: () => false,
      admitPlatform: () => ++asked.platform > 0,
      admitKey: () => ++asked.key > 0 && !isKeyFull,
    },
    concurrency: {
      enter: () => {
        asked.places += 1;
        return () => undefined;
      },
    },
  };
  store = openMemoryStore(clock);
  const lease = createWorkerLease({ store, clock, worker: 'w1' });
  await lease.start();
  const records = createIdempotencyRecords({
    store,
    clock,
    sealer: createSealer([SEALING_KEY]),
    workers: createCallWorkers({ worker: 'w1', lease, liveness: undefined }),
    report: expect.fail,
  });
  const handler: Handler = async (exchange) => {
    const key = readKey(['bearer'], exchange.request.headers, '');
    await admitCall(exchange, { key, need }, gate);
    const body: Buffer[] = await exchange.request.toArray();
    calls.push(Buffer.concat(body).toString());
    return act(exchange);
  };
  const [route] = withIdempotency([{ path, envelope, methods: { POST: handler, GET: handler } }], {
    clock,
    records,
    maxBodyBytes: 1_000,
  });
  let requests = 0;
  post = async ({ body = '{}', path: sentTo = path, headers = {} } = {}) => {
    const request = Readable.from([Buffer.from(body)]) as unknown as IncomingMessage;
    Object.assign(request, {
      method: 'POST',
      url: sentTo,
      rawHeaders: [],
      headers: {
        authorization: 'Bearer key_1',
        'content-length': String(Buffer.byteLength(body)),
        ...headers,
      },
    });
    const response = new ServerResponse(request);
    const exchange = {
      ...bodySource(request, response),
      id: `req_${++requests}`,
      response,
      path: sentTo,
      search: '',
    } as unknown as HttpExchange;
    return (await route?.methods.POST?.(exchange)) as Reply;
  };
  return { handler, route };
}

const named = (name: string, more: Sent = {}): Sent => ({
  ...more,
  headers: { 'idempotency-key': name, ...more.headers },
});

beforeEach(() => serve().then(() => undefined));

describe('a call that names itself', () => {
  it('is made once, with its body, and its answer given again', async () => {
    const first = await post(named('a', { body: '{"x":1}' }));
    expect(first).toEqual({ status: 201, headers: { 'x-number': '1' } });
    const again = await post(named('a', { body: '{"x":1}' }));
    expect(again).toEqual({
      status: 201,
      headers: { 'x-number': '1', 'idempotent-replayed': 'true' },
    });
    expect(calls).toEqual(['{"x":1}']);
  });

  it('is another one under another name, path or key of the API', async () => {
    await post(named('a'));
    await post(named('b'));
    await post(named('a', { path: '/v1/agents/agent_1' }));
    await post(named('a', { headers: { authorization: 'Bearer key_2' } }));
    expect(calls).toHaveLength(4);
  });

  it.each([
    { scopes: new Set(['models']), role: null },
    { scopes: new Set(['agents', 'models']), role: 'viewer' as const },
  ])('is shown to no key that may do less by now: %j', async (fewer) => {
    await post(named('once'));
    rights = fewer;
    await expect(post(named('once'))).rejects.toMatchObject({ status: 403 });
    rights = { scopes: null, role: null };
    expect(await post(named('once'))).toMatchObject({ status: 201 });
    expect(calls.length).toBe(1);
  });

  it('is refused with another body', async () => {
    await post(named('a'));
    await expect(post(named('a', { body: '[]' }))).rejects.toMatchObject({
      code: 'conflict',
      type: 'idempotency_key_reused',
      retry: false,
    });
    expect(calls).toHaveLength(1);
  });

  it('is made anew after a day', async () => {
    await post(named('a'));
    clock.advance(DAY - 1);
    expect((await post(named('a'))).headers).toHaveProperty('idempotent-replayed');
    clock.advance(1);
    expect((await post(named('a'))).headers).toEqual({ 'x-number': '2' });
  });

  it.each(['', 'x'.repeat(256), 'ü', 'a\tb'])('is refused under the name %j', async (name) => {
    await expect(post(named(name))).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'Idempotency-Key',
    });
    expect(calls).toEqual([]);
  });

  it('may have a name of 255 characters', async () => {
    await post(named(' ~'.padEnd(255, 'x')));
    expect(calls).toHaveLength(1);
  });

  it('goes on when its client leaves', async () => {
    let isGone: boolean | undefined;
    act = async ({ response }) => {
      isGone = response.destroyed;
      return { status: 201 };
    };
    await post(named('a'));
    expect(isGone).toBe(false);
  });

  interface Turned {
    readonly what: string;
    readonly code: string;
    readonly key?: string | undefined;
    readonly scope?: Need['scope'];
    readonly role?: Principal['role'];
    readonly isFull?: boolean;
  }

  it.each<Turned>([
    { what: 'no key', key: undefined, code: 'missing_api_key' },
    { what: 'a key that is none', key: 'Bearer unknown', code: 'invalid_api_key' },
    { what: 'a key without the scope', scope: 'skills', code: 'insufficient_scope' },
    { what: 'a key whose role may not do it', role: 'viewer', code: 'insufficient_scope' },
    { what: 'a key at its rate', isFull: true, code: 'key_rate_limited' },
  ])('is refused with $what before its name and body are looked at', async (turned) => {
    const { code, scope = 'agents', role = null, isFull = false } = turned;
    need = { scope, use: 'write' };
    rights = { ...rights, role };
    isKeyFull = isFull;
    const before = await store.list({ prefix: [] });
    const body = 'x'.repeat(2_000);
    const headers = 'key' in turned ? { authorization: turned.key } : {};
    for (const name of ['a', 'a\tb'])
      await expect(post(named(name, { headers, body }))).rejects.toMatchObject({ code });
    expect(calls).toEqual([]);
    expect(await store.list({ prefix: [] })).toEqual(before);
  });

  it('counts once, and so does its repeat', async () => {
    await post(named('a'));
    expect(asked).toEqual({ platform: 1, key: 1, places: 1 });
    await post(named('a'));
    expect(asked).toEqual({ platform: 2, key: 2, places: 1 });
  });
});

describe('a call that failed', () => {
  it.each([400, 404, 409, 429, 500, 503])('with %d is made again', async (status) => {
    act = async () => ({ status });
    expect((await post(named('a'))).status).toBe(status);
    act = async () => ({ status: 201 });
    expect(await post(named('a'))).toEqual({ status: 201, headers: {} });
    expect(calls).toHaveLength(2);
  });

  it('and may have been billed is not', async () => {
    act = async () => ({ status: 502, headers: { 'x-should-retry': 'false' } });
    await post(named('a'));
    const again = await post(named('a'));
    expect(again.status).toBe(502);
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true' });
    expect(calls).toHaveLength(1);
  });

  it('with an error is made again where it did nothing', async () => {
    act = async () => {
      throw new GatewayError('not_found', { message: 'none' });
    };
    await expect(post(named('a'))).rejects.toMatchObject({ code: 'not_found' });
    await expect(post(named('a'))).rejects.toMatchObject({ code: 'not_found' });
    expect(calls).toHaveLength(2);
  });

  it('with an error is not made again where it may have been billed', async () => {
    act = async () => {
      throw new GatewayError('upstream_timeout', { retry: false });
    };
    await expect(post(named('a'))).rejects.toMatchObject({ code: 'upstream_timeout' });
    const { status, headers } = await post(named('a'));
    expect({ status, headers }).toMatchObject({
      status: 504,
      headers: { 'idempotent-replayed': 'true' },
    });
    expect(calls).toHaveLength(1);
  });

  it('and whose end nobody knows is never made again', async () => {
    act = async ({ named: name }) => {
      await name?.willAct('/v1/things/1');
      throw new GatewayError('outcome_unknown');
    };
    const unknown = { code: 'outcome_unknown', message: expect.stringContaining('/v1/things/1') };
    await expect(post(named('a'))).rejects.toMatchObject(unknown);
    await expect(post(named('a'))).rejects.toMatchObject(unknown);
    expect(calls).toHaveLength(1);
  });
});

describe('a repeat of a call that is under way', () => {
  it('waits for its answer', async () => {
    let end = (): void => undefined;
    act = () => new Promise((resolve) => (end = () => resolve({ status: 201 })));
    const first = post(named('a'));
    await settled();
    const again = post(named('a'));
    await settled();
    end();
    expect((await first).status).toBe(201);
    expect((await again).headers).toEqual({ 'idempotent-replayed': 'true' });
    expect(calls).toHaveLength(1);
  });

  it('is refused after half a minute', async () => {
    act = () => new Promise(() => undefined);
    void post(named('a'));
    await settled();
    let refusal: unknown;
    const again = post(named('a')).catch((thrown: unknown) => (refusal = thrown));
    for (let second = 0; second < 30; second++) {
      await settled();
      expect(refusal).toBeUndefined();
      clock.advance(1_000);
    }
    await again;
    expect(refusal).toMatchObject({ type: 'idempotency_in_progress' });
    expect(calls).toHaveLength(1);
  });
});

describe('routes', () => {
  it('are left as they are where a name has no meaning', async () => {
    for (const path of [
      '/v1/chat/completions',
      '/v1/responses',
      '/v1/messages',
      '/v1/embeddings',
      '/v1/api/{vendor}/{path}',
      '/v1/webhooks/secret',
      '/v1beta/models/{model}',
      '/v1/endpoints/{name}/mcp',
      '/v1/endpoints/{name}/acp',
      '/admin/v1/keys',
    ]) {
      const { route, handler } = await serve(path);
      expect(route?.methods.POST, path).toBe(handler);
    }
  });

  it('are protected at POST alone', async () => {
    for (const path of ['/v1/agents', '/v1/webhooks', '/admin/v1/agents', '/v1/chats']) {
      const { route, handler } = await serve(path);
      expect(route?.methods.POST, path).not.toBe(handler);
      expect(route?.methods.GET, path).toBe(handler);
    }
  });
});
