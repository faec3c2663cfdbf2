import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { RequestOutcome, RequestStart } from '../../../src/usage/ledger/ledger.ts';
import { getRequest, listRequests } from '../../../src/usage/requests/request-log.ts';
import { usageReport } from '../../../src/usage/requests/usage-report.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { codeOf, createStarts, DAY, outcome, principal } from '../usage-fixtures.ts';

function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const ledger = createLedger({ store, clock, worker: 'w' });
  const start = createStarts(clock);
  const record = async (
    request: Partial<RequestStart> = {},
    end: Partial<RequestOutcome> = {},
  ): Promise<string> => {
    const begun = start(request);
    ledger.begin(begun).settle(outcome(end));
    await ledger.drain();
    clock.advance(1_000);
    return begun.id;
  };
  return { clock, store, ledger, start, record };
}

describe('listRequests', () => {
  it('pages through all records, newest first', async () => {
    const { store, record } = setUp();
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.unshift(await record());
    const seen: string[] = [];
    let page: string | undefined;
    for (;;) {
      const answer = await listRequests({ store }, { limit: 3, page });
      expect(answer.data.length).toBeLessThanOrEqual(3);
      seen.push(...answer.data.map(({ id }) => id));
      if (answer.next_page === null) break;
      page = answer.next_page;
    }
    expect(seen).toEqual(ids);
  });

  it('filters by a provider that answered, was tried, or left out', async () => {
    const { store, ledger, start, record } = setUp();
    const tried = (provider: string, how: string) => ({
      provider,
      model: 'm',
      status: null,
      outcome: how,
      ms: 0,
    });
    const answered = await record();
    const failed = await record({}, { answeredBy: undefined, attempts: [tried('b', 'connect')] });
    const left = await record({}, { attempts: [tried('c', 'cooldown'), tried('acme', 'ok')] });
    await ledger.begin(start()).durable;
    const ids = async (provider: string) =>
      (await listRequests({ store }, { provider })).data.map(({ id }) => id);
    expect(await ids('acme')).toEqual([left, answered]);
    expect(await ids('b')).toEqual([failed]);
    expect(await ids('c')).toEqual([left]);
    expect(await ids('none')).toEqual([]);
  });

  it('filters by organization, key, model, status and result', async () => {
    const { store, ledger, start, record } = setUp();
    const foreign = await record({
      principal: principal({ organizationId: 'org_2', keyId: 'key_9' }),
    });
    const failed = await record(
      {},
      { status: 503, result: 'error', errorCode: 'no_route_succeeded' },
    );
    const other = await record({ model: 'acme/two' });
    const pending = start({ model: 'acme/open' });
    await ledger.begin(pending).durable;
    const ids = async (query: Parameters<typeof listRequests>[1]) =>
      (await listRequests({ store }, query)).data.map(({ id }) => id);
    expect(await ids({ organization: 'org_2' })).toEqual([foreign]);
    expect(await ids({ key: 'key_9' })).toEqual([foreign]);
    expect(await ids({ model: 'acme/two' })).toEqual([other]);
    expect(await ids({ status: 503 })).toEqual([failed]);
    expect(await ids({ status: 'error' })).toEqual([failed]);
    expect(await ids({ status: 'pending' })).toEqual([pending.id]);
  });

  it('shows calls in flight in their place among those that ended, each once', async () => {
    const { clock, store, ledger, start, record } = setUp();
    const first = await record();
    const together = [start(), start(), start()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const entries = together.map((request) => ledger.begin(request));
    await Promise.all(entries.map(({ durable }) => durable));
    clock.advance(1_000);
    const last = await record();
    entries[1]?.settle(outcome());
    await ledger.drain();
    const seen: [string, string][] = [];
    let page: string | undefined;
    do {
      const answer = await listRequests({ store }, { limit: 1, page });
      seen.push(...answer.data.map(({ id, result }): [string, string] => [id, result]));
      page = answer.next_page ?? undefined;
    } while (page !== undefined);
    const [one, two, three] = together.map(({ id }) => id);
    expect(seen).toEqual([
      [last, 'ok'],
      [three, 'pending'],
      [two, 'ok'],
      [one, 'pending'],
      [first, 'ok'],
    ]);
  });

  it('takes an instant as inclusive start and exclusive end', async () => {
    const { clock, store, record } = setUp();
    await record();
    const from = clock.now();
    const wanted = await record();
    const to = clock.now();
    await record();
    const { data } = await listRequests({ store }, { from, to });
    expect(data.map(({ id }) => id)).toEqual([wanted]);
  });

  it('refuses a cursor that it never gave out', async () => {
    const { store } = setUp();
    expect(await codeOf(listRequests({ store }, { page: 'nonsense' }))).toBe('invalid_request');
  });
});

describe('getRequest', () => {
  it('knows nothing of other ids', async () => {
    const { store, record } = setUp();
    const id = await record();
    expect(await getRequest({ store }, id)).toMatchObject({ id, result: 'ok' });
    expect(await getRequest({ store }, 'req_unknown')).toBeUndefined();
  });
});

describe('a call in flight', () => {
  it('is pending by id until it ended, and leaves nothing but its final record', async () => {
    const { store, ledger, start } = setUp();
    const requests = [start({ stream: true }), start()];
    const entries = requests.map((request) => ledger.begin(request));
    await Promise.all(entries.map(({ durable }) => durable));
    const results = () =>
      Promise.all(requests.map(async ({ id }) => (await getRequest({ store }, id))?.result));
    expect(await results()).toEqual(['pending', 'pending']);
    expect(await getRequest({ store }, requests[0]?.id ?? '')).toMatchObject({
      organization: 'org_1',
      key: { id: 'key_1', name: 'first' },
      model: 'acme/one',
      stream: true,
      status: null,
      cost: '0.00',
    });
    entries[1]?.settle(outcome());
    await ledger.drain();
    expect(await results()).toEqual(['pending', 'ok']);
    expect(await store.list({ prefix: ['flight'] })).toHaveLength(1);
    entries[0]?.settle(outcome());
    await ledger.drain();
    expect(await results()).toEqual(['ok', 'ok']);
    expect(await store.list({ prefix: ['flight'] })).toEqual([]);
  });

  it('is found when it ends while it is looked for', async () => {
    const { store, ledger, start } = setUp();
    const request = start();
    const entry = ledger.begin(request);
    await entry.durable;
    const list: typeof store.list = async (options) => {
      entry.settle(outcome());
      await ledger.drain();
      return store.list(options);
    };
    const slow = { ...store, list };
    expect(await getRequest({ store: slow }, request.id)).toMatchObject({ result: 'ok' });
    expect((await listRequests({ store: slow })).data).toMatchObject([{ result: 'ok' }]);
  });
});

describe('usageReport', () => {
  async function filled() {
    const setup = setUp();
    const { clock, record } = setup;
    const second = principal({ keyId: 'key_2' });
    const foreign = principal({ keyId: 'key_3', organizationId: 'org_2' });
    await record({}, { cost: 1 });
    await record({ principal: second, model: 'acme/two' }, { cost: 20 });
    clock.advance(DAY);
    await record({}, { cost: 300, result: 'error', status: 502 });
    await record({ principal: foreign }, { cost: 4_000, estimated: true });
    return setup;
  }

  it('sums everything in one row unless it is grouped', async () => {
    const { store } = await filled();
    expect(await usageReport({ store }, {})).toEqual([
      {
        requests: 4,
        errors: 1,
        estimated: 1,
        unpriced: 0,
        cost: '0.000004321',
        usage: {
          input_tokens: 40,
          cache_read_tokens: 0,
          cache_write_5m_tokens: 0,
          cache_write_1h_tokens: 0,
          output_tokens: 20,
          reasoning_tokens: 0,
          images: 0,
          seconds: 0,
        },
      },
    ]);
  });

  it('groups by any of day, key, model and organization', async () => {
    const { store } = await filled();
    const rows = await usageReport({ store }, { groupBy: ['day', 'key', 'model', 'organization'] });
    expect(
      rows.map(({ day, key, model, organization, cost }) => [day, key, model, organization, cost]),
    ).toEqual([
      ['2026-11-21', 'key_1', 'acme/one', 'org_1', '0.000000001'],
      ['2026-11-21', 'key_2', 'acme/two', 'org_1', '0.00000002'],
      ['2026-11-22', 'key_1', 'acme/one', 'org_1', '0.0000003'],
      ['2026-11-22', 'key_3', 'acme/one', 'org_2', '0.000004'],
    ]);
  });

  it('keeps to one organization and to whole days', async () => {
    const { store } = await filled();
    const day = Date.UTC(2026, 10, 22);
    const costs = async (query: Parameters<typeof usageReport>[1]) =>
      (await usageReport({ store }, query)).map(({ cost }) => cost);
    expect(await costs({ organization: 'org_1' })).toEqual(['0.000000321']);
    expect(await costs({ to: day })).toEqual(['0.000000021']);
    expect(await costs({ from: day })).toEqual(['0.0000043']);
    expect(await costs({ from: day, organization: 'org_3' })).toEqual([]);
  });
});

describe('getRequest', () => {
  it('finds nothing by what is no id, however long it is', async () => {
    const { store, record } = setUp();
    const id = await record();
    expect((await getRequest({ store }, id))?.id).toBe(id);
    for (const name of ['', 'x'.repeat(5_000), `${id}/`, '%00', '\u0000'])
      expect(await getRequest({ store }, name)).toBeUndefined();
  });
});
