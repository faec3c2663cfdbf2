import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { ActiveExchanges } from '../../../src/inference/active-exchanges.ts';
import type { NamedCall } from '../../../src/store/named-call.ts';
import { createRunHandlers } from '../../../src/tasks/runs/run-handlers.ts';
import type { RunHandlersDeps } from '../../../src/tasks/runs/run-handlers.ts';
import type { RunRecord } from '../../../src/tasks/runs/run-record.ts';
import type { RunOrder } from '../../../src/tasks/runs/run-service.ts';
import type { WaitOptions } from '../../../src/tasks/runs/wait-for-run.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import type { Refusal } from '../../../src/usage/requests/refusals.ts';
import type { CallOptions } from '../../server/routes/handler-calls.ts';
import {
  answerOf,
  exchangeOf,
  keyring,
  namedCall,
  openResponse,
} from '../../server/routes/handler-calls.ts';
import { BODY_VALUES } from '../../support/value-bounds.ts';

const WAIT_MS = 5_000;
const BODY = { model: 'acme/one', input: { prompt: 'hi' } };
const RECORD = {
  id: 'run_1',
  call: 'req_1',
  payer: { organizationId: 'org_1' },
  at: 0,
  endedAt: null,
  model: 'acme/one',
  status: 'queued',
  bytes: 0,
  error: null,
  usage: null,
  cost: null,
  video: null,
  webhook: null,
} as RunRecord;
const DONE = { ...RECORD, status: 'succeeded' } as RunRecord;

interface Setup extends Partial<Principal> {
  readonly funds?: GatewayError;
  /** Refusal of a run. */
  readonly refusal?: GatewayError;
  /** End of a wait. */
  readonly waited?: RunRecord;
}

function setUp({ funds, refusal, waited = DONE, ...payer }: Setup = {}) {
  const ring = keyring(payer);
  const refused: Refusal[] = [];
  const orders: RunOrder[] = [];
  const waits: WaitOptions[] = [];
  const active = new ActiveExchanges();
  const checks: string[] = [];
  const found: string[] = [];
  const deps = {
    ...ring,
    bodyValues: BODY_VALUES,
    runWaitMs: WAIT_MS,
    inference: {
      active,
      refusals: { note: (refusal: Refusal) => void refused.push(refusal) },
      ledger: {
        async checkFunds(of: Principal) {
          checks.push(of.keyId);
          if (funds) throw funds;
        },
      },
    },
    runs: {
      async create(order: RunOrder) {
        orders.push(order);
        await order.also?.(RECORD);
        if (refusal) throw refusal;
        return RECORD;
      },
      async find(organization: string, id: string) {
        found.push(`${organization} ${id}`);
        if (id !== RECORD.id) throw new GatewayError('not_found');
        return RECORD;
      },
      async wait(_organization: string, _id: string, options: WaitOptions) {
        waits.push({ ...options });
        return waited;
      },
      show: async (record: RunRecord) => Buffer.from(record.status),
    },
  } as unknown as RunHandlersDeps;
  const handlers = createRunHandlers(deps);
  const create = (more: CallOptions = {}) =>
    answerOf(handlers.create, { method: 'POST', path: '/v1/run', body: BODY, ...more });
  const get = (path: string) => answerOf(handlers.get, { path });
  const { inside } = ring;
  return { handlers, create, get, inside, refused, orders, waits, active, checks, found };
}

const earlierCall = (earlier: string): NamedCall => ({ ...namedCall().named, earlier });

it('finds a run by a path that ends with a slash', async () => {
  const { get, found } = setUp();
  await get('/v1/run/run_1/');
  await expect(get('/v1/run/run_1//')).rejects.toMatchObject({ code: 'not_found' });
  expect(found).toEqual(['org_1 run_1']);
});

describe('a run that is made', () => {
  it('is waited for, and its end is the answer', async () => {
    const { create, inside, orders, waits, active } = setUp();
    expect(await create()).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('succeeded'),
    });
    expect(orders).toMatchObject([
      { requestId: 'req_1', principal: { keyId: 'key_1' }, request: { model: 'acme/one' } },
    ]);
    expect(waits).toMatchObject([{ ms: WAIT_MS }]);
    expect([inside.ever, inside.now, active.size]).toEqual([1, 0, 0]);
  });

  it('is told with its place while it goes on', async () => {
    const { create } = setUp({ waited: { ...RECORD, status: 'running' } });
    expect(await create()).toEqual({
      status: 202,
      headers: { 'content-type': 'application/json', location: '/v1/run/run_1' },
      body: Buffer.from('running'),
    });
  });

  it.each<CallOptions>([
    { body: { ...BODY, async: true } },
    { body: { ...BODY, webhook_url: 'https://a.example' } },
    { headers: { prefer: 'respond-async' } },
    { headers: { prefer: 'wait=0' } },
  ])('is not waited for as %j', async (more) => {
    const { create, waits } = setUp();
    expect(await create(more)).toMatchObject({ status: 202, body: Buffer.from('queued') });
    expect(waits).toEqual([]);
  });

  it('is not waited for by a client that left, and goes on', async () => {
    const { handlers, waits } = setUp();
    const response = openResponse();
    const asked = { method: 'POST', path: '/v1/run', body: BODY, response };
    await handlers.create(exchangeOf(asked));
    expect(waits[0]?.signal?.aborted).toBe(false);
    response.emit('close');
    expect(waits[0]?.signal?.aborted).toBe(true);
  });

  it('gives its place and the memory of its body back, and leaves a record, when it is refused', async () => {
    const refusal = new GatewayError('model_not_found');
    const { create, inside, refused } = setUp({ refusal });
    await expect(create()).rejects.toBe(refusal);
    expect(inside).toEqual({ ever: 1, now: 0 });
    expect(refused).toMatchObject([
      { id: 'req_1', surface: 'run', model: 'acme/one', payer: { keyId: 'key_1' }, cause: refusal },
    ]);
  });

  it('is refused where the key has no money left, before its body is read', async () => {
    const funds = new GatewayError('key_spending_limit');
    const { create, inside, refused, orders } = setUp({ funds });
    await expect(create({ body: '{' })).rejects.toBe(funds);
    expect([inside.ever, inside.now, orders]).toEqual([1, 0, []]);
    expect(refused).toMatchObject([{ model: '', payer: { keyId: 'key_1' }, cause: funds }]);
  });

  it('is refused for a key without the scope, with a record of whose it was', async () => {
    const { create, refused } = setUp({ scopes: new Set(['models']) });
    await expect(create()).rejects.toMatchObject({ code: 'insufficient_scope' });
    expect(refused).toMatchObject([{ payer: { keyId: 'key_1' } }]);
  });
});

describe('a run of a named call', () => {
  it('is the answer of that name where nobody waits', async () => {
    const { named, kept } = namedCall();
    await setUp().create({ named, body: { ...BODY, async: true } });
    expect(kept).toMatchObject([{ status: 202, headers: { location: '/v1/run/run_1' } }]);
  });

  it('is what a repeat waits for, for no more money', async () => {
    const { create, orders, checks, found, waits } = setUp();
    expect(await create({ named: earlierCall('run_1') })).toMatchObject({ status: 200 });
    expect([orders, checks, found]).toEqual([[], [], ['org_1 run_1']]);
    expect(waits).toHaveLength(1);
  });

  it('has an unknown outcome where its process died in the middle', async () => {
    const error = { code: 'interrupted', message: 'stopped' };
    const { create } = setUp({ waited: { ...RECORD, status: 'failed', error } });
    const asked = create({ named: earlierCall('run_1') });
    await expect(asked).rejects.toMatchObject({ code: 'outcome_unknown' });
  });
});

describe('a run that is asked for', () => {
  it('is shown to its own organization', async () => {
    const { get, found, inside } = setUp();
    expect(await get('/v1/run/run%5F1')).toMatchObject({
      status: 200,
      body: Buffer.from('queued'),
    });
    expect([found, inside.ever, inside.now]).toEqual([['org_1 run_1'], 1, 0]);
  });

  it.each(['/v1/run/run_2', '/v1/run/', '/v1/run/run_1/more', '/v1/run/%E0'])(
    'is not found at %s',
    async (path) => {
      const { get, inside } = setUp();
      await expect(get(path)).rejects.toMatchObject({ code: 'not_found' });
      expect(inside).toEqual({ ever: 1, now: 0 });
    },
  );
});
