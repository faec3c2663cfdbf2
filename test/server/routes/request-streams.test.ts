import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createIdSource } from '../../../src/core/ids.ts';
import { ActiveExchanges } from '../../../src/inference/active-exchanges.ts';
import { requestStreamHandlers } from '../../../src/server/routes/request-streams.ts';
import type { KeyFound } from '../../../src/surfaces/gate.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import type {
  KnownStart,
  RequestSignals,
} from '../../../src/usage/requests/live/request-signals.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { createStarts, outcome, principal, turns } from '../../usage/usage-fixtures.ts';
import { exchangeOf, keyring, openResponse } from './handler-calls.ts';
import type { CallOptions } from './handler-calls.ts';

const ADMIN = { scopes: new Set(['admin']) };

/** Streams of a process that is alone on its store. */
function setUp(of: Partial<Principal> = {}, resourceXApiKey = false) {
  const { repository, store, clock } = makeResources();
  const signals: RequestSignals = { listener: undefined };
  const followers = new ActiveExchanges();
  const errors: unknown[] = [];
  let broken: Error | undefined;
  const keys = keyring({ concurrencyCap: 1, ...of });
  const lookup: { of: (key: string) => KeyFound | Promise<KeyFound> } = { of: keys.lookup };
  const handlers = requestStreamHandlers({
    ...keys,
    lookup: (key) => lookup.of(key),
    repository,
    store: {
      ...store,
      async list(options) {
        if (broken) throw broken;
        return store.list(options);
      },
    },
    clock,
    signals,
    resourceXApiKey,
    followers,
    requestTimeoutMs: 30_000,
    alone: () => 'mark',
    fold: async () => undefined,
    onFollowError: (error) => errors.push(error),
  });
  const ledger = createLedger({ store, clock, worker: 'w1' });
  const start = createStarts(clock);
  const useAll = async (count: number) => {
    for (let made = 0; made < count; made++) ledger.begin(start()).settle(outcome());
    await ledger.drain();
  };
  /** Keeps a record of a call that has ended. */
  const use = async (organizationId: string) => {
    const started = start({ principal: principal({ organizationId }) });
    ledger.begin(started).settle(outcome());
    await ledger.drain();
    clock.advance(1);
    return started.id;
  };
  /** Has a call begin that the streams are told of. */
  const begin = async (organizationId: string, model = 'acme/one') => {
    const ids = createIdSource(clock);
    const who = principal({ organizationId });
    const known: KnownStart = {
      id: ids.next('req'),
      at: clock.now(),
      principal: who,
      surface: 'chat',
      model,
      stream: false,
    };
    signals.listener?.begun(known);
    clock.advance(100);
    await turns();
    return known.id;
  };
  const follow = async (name: keyof typeof handlers, search = '', options: CallOptions = {}) => {
    const response = openResponse();
    const answer = await handlers[name](exchangeOf({ search, response, ...options }));
    const out = new PassThrough();
    let text = '';
    out.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const isStream = 'type' in answer && answer.type === 'stream';
    if (isStream) answer.body.pipe(out);
    await turns();
    return {
      answer,
      isStream,
      text: () => text,
      /** Ids of the rows that came, in order. */
      ids: () => [...text.matchAll(/"id":"(req_\w+)"/g)].map(([, id]) => id),
      hasEnded: () => out.writableEnded,
      leave: () => void response.emit('close'),
    };
  };
  return {
    clock,
    signals,
    followers,
    errors,
    lookup,
    use,
    useAll,
    begin,
    follow,
    holders: keys.holders,
    breakStore: () => void (broken = new Error('the store is away')),
  };
}

describe('a stream of requests', () => {
  it('begins with the newest rows, and goes on with each change', async () => {
    const { use, begin, follow, holders } = setUp(ADMIN);
    const first = await use('org_1');
    const stream = await follow('followAll');
    expect(stream.answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      },
    });
    expect(stream.ids()).toEqual([first]);
    const second = await begin('org_2');
    expect(stream.ids()).toEqual([first, second]);
    expect(holders).toEqual(['key_1/stream']);
    stream.leave();
    expect(holders).toEqual([]);
  });

  it('of the own organization has its requests alone, as executions', async () => {
    const { use, begin, follow } = setUp();
    const first = await use('org_1');
    await use('org_2');
    const stream = await follow('followOwn', '?organization=org_2');
    await begin('org_2');
    const second = await begin('org_1');
    expect(stream.ids()).toEqual([first, second]);
    expect(stream.text()).toContain('"type":"execution"');
    expect(stream.text()).not.toContain('"attempts"');
  });

  it('of everyone shows records as they are, and can be narrowed down', async () => {
    const { use, begin, follow } = setUp(ADMIN);
    await use('org_1');
    const first = await use('org_2');
    const stream = await follow('followAll', '?organization=org_2&model=acme/one');
    await begin('org_2', 'acme/two');
    const second = await begin('org_2');
    expect(stream.ids()).toEqual([first, second]);
    expect(stream.text()).toContain('"attempts"');
    expect(stream.text()).not.toContain('"execution"');
  });

  it.each([
    ['', 20],
    ['?limit=', 20],
    ['?limit=0', 0],
    ['?limit=%30', 0],
    ['?model=acme/one&limit=0&from=1970-01-01', 0],
    ['?limit=1', 1],
    ['?limit=21', 21],
    ['?limit=1000', 22],
    ['?limit=1001', 22],
  ])('begins with as many rows as are asked for: %s', async (search, count) => {
    const { use, follow } = setUp(ADMIN);
    for (let made = 0; made < 22; made++) await use('org_1');
    const stream = await follow('followAll', search);
    expect(stream.ids()).toHaveLength(count);
  });

  it('begins with a thousand rows at most', async () => {
    const { useAll, follow } = setUp(ADMIN);
    await useAll(1_001);
    const stream = await follow('followAll', '?limit=1001');
    expect(stream.ids()).toHaveLength(1_000);
  });

  it('goes on behind the last event that the client saw', async () => {
    const { begin, follow } = setUp(ADMIN);
    const stream = await follow('followAll', '?limit=0');
    const cursor = /^id: (\S+)$/m.exec(stream.text())?.[1] ?? '';
    await begin('org_1');
    const again = await follow('followAll', '', { headers: { 'last-event-id': cursor } });
    expect(again.text()).not.toContain('event: reset');
    const lost = await follow('followAll', '', { headers: { 'last-event-id': 'x' } });
    expect(lost.text()).toContain('event: reset');
  });

  it.each([
    ['?page=x', 'page', 'page: a stream has no pages; go on with the header Last-Event-ID'],
    ['?limit=x', 'limit', 'limit: expected a whole number of at least 1'],
    ['?limit=00', 'limit', 'limit: expected a whole number of at least 1'],
    ['?status=x', 'status', expect.stringContaining('status: expected one of')],
  ])('is refused: %s', async (search, param, message) => {
    const { follow, followers } = setUp(ADMIN);
    const refusal = { code: 'invalid_request', param, message };
    await expect(follow('followAll', search)).rejects.toMatchObject(refusal);
    expect(followers.size).toBe(0);
  });

  it('answers HEAD without following anything', async () => {
    const { follow, followers, signals } = setUp(ADMIN);
    const { answer, isStream } = await follow('followAll', '', { method: 'HEAD' });
    expect(answer).toMatchObject({ status: 200 });
    expect(isStream).toBe(false);
    expect(followers.size).toBe(0);
    expect(signals.listener).toBeUndefined();
  });
});

describe('the end of a stream of requests', () => {
  it('comes when the client leaves', async () => {
    const { follow, followers, signals, clock } = setUp(ADMIN);
    const { pending } = clock;
    const stream = await follow('followAll');
    expect(followers.size).toBe(1);
    expect(clock.pending).toBeGreaterThan(pending);
    stream.leave();
    await turns();
    expect(stream.hasEnded()).toBe(true);
    expect(followers.size).toBe(0);
    expect(signals.listener).toBeUndefined();
    expect(clock.pending).toBe(pending);
  });

  it('comes with the stop of the gateway', async () => {
    const { follow, followers } = setUp(ADMIN);
    const streams = [await follow('followAll'), await follow('followAll', '?limit=1')];
    followers.shutDown();
    await turns();
    expect(streams.map(({ hasEnded }) => hasEnded())).toEqual([true, true]);
    expect(followers.size).toBe(0);
  });

  it('comes within a second behind its key', async () => {
    const { follow, lookup, clock } = setUp(ADMIN);
    const stream = await follow('followAll');
    clock.advance(500);
    await turns();
    expect(stream.hasEnded()).toBe(false);
    lookup.of = () => 'revoked';
    clock.advance(499);
    await turns();
    expect(stream.hasEnded()).toBe(false);
    clock.advance(1);
    await turns();
    expect(stream.hasEnded()).toBe(true);
  });

  it('comes when the key loses the scope', async () => {
    const { follow, lookup, clock } = setUp(ADMIN);
    const stream = await follow('followAll');
    lookup.of = () => principal({ scopes: new Set(['models']) });
    clock.advance(500);
    await turns();
    expect(stream.hasEnded()).toBe(true);
  });

  it('comes where nobody can tell whether its key holds', async () => {
    const { follow, lookup, clock } = setUp(ADMIN);
    const stream = await follow('followAll');
    lookup.of = () => Promise.reject(new Error('the store is away'));
    clock.advance(500);
    await turns();
    expect(stream.hasEnded()).toBe(true);
  });

  it('comes with a store that fails, which is told', async () => {
    const { follow, followers, errors, breakStore, clock } = setUp(ADMIN);
    const { pending } = clock;
    breakStore();
    const stream = await follow('followAll');
    expect(stream.hasEnded()).toBe(true);
    expect(errors).toMatchObject([{ message: 'the store is away' }]);
    expect(followers.size).toBe(0);
    expect(clock.pending).toBe(pending);
  });
});

describe('streams of one process', () => {
  it('share a feed, and go on without those that left', async () => {
    const { follow, begin, signals } = setUp(ADMIN);
    const streams = [
      await follow('followAll', '?limit=0'),
      await follow('followAll', '?limit=0'),
      await follow('followAll', '?limit=0&model=acme/one'),
    ];
    const { listener } = signals;
    streams[0]?.leave();
    await turns();
    expect(signals.listener).toBe(listener);
    const id = await begin('org_1');
    expect(streams.map(({ ids }) => ids())).toEqual([[], [id], [id]]);
    for (const { leave } of streams) leave();
    await turns();
    expect(signals.listener).toBeUndefined();
    const later = await follow('followAll', '?limit=0');
    const next = await begin('org_1');
    expect(later.ids()).toEqual([next]);
  });
});

describe('streams of requests', () => {
  interface Access {
    readonly what: string;
    readonly name: 'followAll' | 'followOwn';
    readonly of: Partial<Principal>;
    readonly isOpen: boolean;
  }
  const all = (what: string, of: Access['of'], isOpen: boolean): Access => ({
    what: `everyone ${what}`,
    name: 'followAll',
    of,
    isOpen,
  });
  const own = (what: string, of: Access['of'], isOpen: boolean): Access => ({
    what: `the own ones ${what}`,
    name: 'followOwn',
    of,
    isOpen,
  });

  it.each([
    all('with the scope admin', ADMIN, true),
    all('without it', {}, false),
    all('with the role viewer', { ...ADMIN, role: 'viewer' }, true),
    all('with the role billing', { ...ADMIN, role: 'billing' }, false),
    own('without bounds', {}, true),
    own('with the scope account', { scopes: new Set(['account']) }, true),
    own('with the scope admin alone', ADMIN, false),
  ])('are open to those who may see them: $what', async ({ name, of, isOpen }) => {
    const { follow } = setUp(of);
    const asked = follow(name);
    if (isOpen) expect((await asked).isStream).toBe(true);
    else await expect(asked).rejects.toMatchObject({ code: 'insufficient_scope' });
  });

  it('take a key from x-api-key where that is switched on, for the own ones alone', async () => {
    const headers = { authorization: '', 'x-api-key': 'sk-1' };
    const missing = { code: 'missing_api_key' };
    await expect(setUp().follow('followOwn', '', { headers })).rejects.toMatchObject(missing);
    const on = setUp({}, true);
    expect((await on.follow('followOwn', '', { headers })).isStream).toBe(true);
    const admin = setUp(ADMIN, true);
    await expect(admin.follow('followAll', '', { headers })).rejects.toMatchObject(missing);
  });
});
