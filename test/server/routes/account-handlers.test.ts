import { describe, expect, it } from 'vitest';
import { accountHandlers, toExecution } from '../../../src/server/routes/account-handlers.ts';
import type { BalanceView } from '../../../src/server/routes/account-handlers.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { toUsageRecord } from '../../../src/usage/requests/request-record.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { createStarts, DAY, DOLLAR, outcome, principal } from '../../usage/usage-fixtures.ts';
import { answerOf, keyring } from './handler-calls.ts';

type Name = keyof ReturnType<typeof accountHandlers>;
interface Page {
  readonly data: readonly Record<string, unknown>[];
  readonly next_page: string | null;
}

async function setUp(organization: object = {}, of: Partial<Principal> = {}) {
  const { call, repository, store, clock } = makeResources();
  const make = async (body: object): Promise<string> =>
    String((await call('POST organizations', { body })).body['id']);
  const owner = await make({ name: 'acme', ...organization });
  const other = await make({ name: 'bolt' });
  const ledger = createLedger({ store, clock, worker: 'w1' });
  const start = createStarts(clock);
  const begin = async (organizationId: string, bound: number, at = clock.now()) => {
    const limited = principal({ organizationId, organizationSpend: { lifetime: 1_000 * DOLLAR } });
    const started = start({ principal: limited, bound, at });
    const entry = ledger.begin(started);
    await entry.admitted;
    return { entry, id: started.id };
  };
  /** Has an organization pay for a call; gives the id of its record. */
  const use = async (organizationId: string, cost: number, at = clock.now()) => {
    const { entry, id } = await begin(organizationId, cost, at);
    entry.settle(outcome({ cost }));
    await entry.settled;
    await ledger.drain();
    return id;
  };
  const keys = keyring({ organizationId: owner, ...of });
  const handlers = accountHandlers({ ...keys, repository, store, clock });
  const ask = async <Body>(name: Name, search = '', path = '/') => {
    const { status, body } = await answerOf(handlers[name], { search, path });
    expect(status).toBe(200);
    return body as Body;
  };
  return { owner, other, begin, use, ask, clock, inside: keys.inside };
}

describe('the balance', () => {
  it('is what was paid in advance less what was spent', async () => {
    const limit = { month: '20', day: '5' };
    const { owner, begin, use, ask, clock } = await setUp({ credit: '10', spending_limit: limit });
    await use(owner, 4 * DOLLAR, clock.now() - 30 * DAY);
    await use(owner, 2 * DOLLAR, clock.now() - DAY);
    await use(owner, DOLLAR / 2);
    await begin(owner, 3 * DOLLAR);
    expect(await ask<BalanceView>('balance')).toEqual({
      currency: 'USD',
      balance: '3.50',
      credit: expect.stringMatching(/^10(\.00)?$/),
      spending_limit: expect.stringMatching(/^20(\.00)?$/),
      spent: '6.50',
      reserved: '3.00',
      windows: {
        lifetime: { limit: null, spent: '6.50' },
        month: { limit: expect.stringMatching(/^20(\.00)?$/), spent: '2.50' },
        day: { limit: expect.stringMatching(/^5(\.00)?$/), spent: '0.50' },
      },
    });
  });

  it('is below zero for what was used without prepayment', async () => {
    const { owner, use, ask } = await setUp();
    await use(owner, 2 * DOLLAR);
    expect(await ask('balance')).toMatchObject({
      balance: '-2.00',
      credit: '0.00',
      spending_limit: null,
    });
  });

  it('counts nothing that another organization spent', async () => {
    const { other, use, ask } = await setUp();
    await use(other, 2 * DOLLAR);
    expect(await ask('balance')).toMatchObject({ balance: '0.00', spent: '0.00' });
  });

  it.each([
    [{ lifetime: '30', month: '20', day: '10' }, /^30/],
    [{ month: '20', day: '10' }, /^20/],
    [{ day: '10' }, /^10/],
  ])('shows the longest window that is limited: %j', async (limit, shown) => {
    const { ask } = await setUp({ spending_limit: limit });
    expect((await ask<BalanceView>('balance')).spending_limit).toMatch(shown);
  });
});

describe('the list of calls', () => {
  it('has those of the own organization alone, whatever is asked for', async () => {
    const { owner, other, use, ask } = await setUp();
    const own = await use(owner, DOLLAR);
    await use(other, DOLLAR);
    // A filter by provider would tell how a call was routed.
    for (const search of ['', `?organization=${other}`, '?provider=none']) {
      const { data, next_page } = await ask<Page>('list', search);
      expect(data.map(({ id }) => id)).toEqual([own]);
      expect(data[0]).toMatchObject({ type: 'execution', cost: '1.00' });
      expect(data[0]).not.toHaveProperty('attempts');
      expect(next_page).toBeNull();
    }
  });

  it('has twenty of them on a page, a hundred at most, or as few as are asked for', async () => {
    const { owner, begin, ask } = await setUp();
    for (let count = 0; count < 101; count++) await begin(owner, 0);
    const lengthOf = async (search: string) => (await ask<Page>('list', search)).data.length;
    expect(await lengthOf('')).toBe(20);
    expect(await lengthOf('?limit=3')).toBe(3);
    expect(await lengthOf('?limit=100')).toBe(100);
    expect(await lengthOf('?limit=101')).toBe(100);
    const { next_page: next } = await ask<Page>('list', '?limit=1000');
    expect((await ask<Page>('list', `?limit=1000&page=${next}`)).data).toHaveLength(1);
  });
});

describe('a call', () => {
  it('is shown to its own organization alone', async () => {
    const { owner, other, use, ask } = await setUp();
    const [own, foreign] = [await use(owner, DOLLAR), await use(other, DOLLAR)];
    const get = (id: string) => ask('get', '', `/v1/account/executions/${id}`);
    expect(await get(own)).toMatchObject({ id: own, type: 'execution' });
    const refusal = { code: 'not_found', message: 'execution not found' };
    for (const id of [foreign, 'req_none', ''])
      await expect(get(id)).rejects.toMatchObject(refusal);
  });
});

describe('the other reports', () => {
  it('are those of the own organization', async () => {
    const { owner, other, use, ask } = await setUp();
    await use(owner, DOLLAR);
    await use(other, 4 * DOLLAR);
    expect((await ask<Page>('usage', `?organization=${other}`)).data).toMatchObject([
      { requests: 1, cost: '1.00' },
    ]);
    expect(await ask('budgets')).toEqual({ data: [], next_page: null });
  });
});

describe('the account', () => {
  const NAMES: readonly Name[] = ['balance', 'usage', 'budgets', 'list', 'get'];
  const codes = async (of: Partial<Principal>) => {
    const { ask, inside } = await setUp({}, of);
    const all: Record<string, string> = {};
    for (const name of NAMES) {
      const asked = ask(name, '', '/v1/account/executions/req_none');
      all[name] = await asked.then(
        () => 'ok',
        (error: { code: string }) => error.code,
      );
    }
    expect(inside.now).toBe(0);
    return all;
  };
  const open = { balance: 'ok', usage: 'ok', budgets: 'ok', list: 'ok', get: 'not_found' };
  const no = 'insufficient_scope';

  it('is open to keys with its scope, and to what their role reads', async () => {
    expect(await codes({ scopes: new Set(['account']) })).toEqual(open);
    expect(await codes({ role: 'viewer' })).toEqual(open);
    expect(await codes({ role: 'billing' })).toEqual({ ...open, list: no, get: no });
    const closed = Object.fromEntries(NAMES.map((name) => [name, no]));
    expect(await codes({ scopes: new Set(['admin']) })).toEqual(closed);
  });
});

describe('a call as its organization sees it', () => {
  const RECORD: RequestRecord = {
    id: 'req_1',
    created_at: '2026-11-21T00:00:00.000Z',
    organization: 'org_1',
    key: { id: 'key_1', name: 'first' },
    surface: 'chat',
    model: 'acme/one',
    alias: 'one',
    stream: true,
    conversation: 'c',
    end_user: 'u',
    tags: { job: 'a' },
    answered_by: { model: 'acme/one', provider: 'acme', upstream_model: 'one' },
    status: 200,
    result: 'ok',
    error_code: null,
    attempts: [],
    usage: toUsageRecord([1, 2, 3]),
    estimated: true,
    cost: '1.00',
    losses: ['seed'],
    overhead_us: 80,
    first_content_ms: 7,
    total_ms: 20,
    content: { request: 'secret', response: 'secret' },
  };

  it('has neither its content nor how it was routed', () => {
    const {
      organization: _owner,
      answered_by: _by,
      attempts: _attempts,
      losses: _losses,
      overhead_us: _overhead,
      content: _content,
      ...rest
    } = RECORD;
    expect(toExecution(RECORD)).toEqual({ ...rest, type: 'execution' });
    expect(Object.keys(toExecution(RECORD))).not.toContain('reserved');
  });

  it('tells what was reserved where something was', () => {
    expect(toExecution({ ...RECORD, reserved: '0.00' })).toHaveProperty('reserved', '0.00');
  });
});
