import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { AuditLog } from '../../../src/audit/audit-log.ts';
import { listAudit } from '../../../src/audit/read-audit.ts';
import { ActiveExchanges } from '../../../src/inference/active-exchanges.ts';
import { sessionHandlers } from '../../../src/server/routes/session-handlers.ts';
import type { KeyFound } from '../../../src/surfaces/gate.ts';
import type { ResolvedAgent } from '../../../src/sessions/resolved-agent.ts';
import type { AgentReference } from '../../../src/sessions/session-bodies.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { AGENT, createRig, pending, say } from '../../sessions/support.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../../support/catalog.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { principal, turns } from '../../usage/usage-fixtures.ts';
import { answerOf, exchangeOf, keyring, namedCall, openResponse } from './handler-calls.ts';
import type { CallOptions } from './handler-calls.ts';

type Name = keyof ReturnType<typeof sessionHandlers>;
type Body = Record<string, unknown>;

function setUp(of: Partial<Principal> = {}, agent: Partial<ResolvedAgent> = {}) {
  const clock = createFakeClock();
  const { sessions, store } = createRig({ clock, runner: pending });
  const active = new ActiveExchanges();
  const resolved: [string, AgentReference][] = [];
  const keys = keyring(of);
  const lookup: { of: (key: string) => KeyFound } = { of: keys.lookup };
  const priced = fakeRoute('acme', { pricing: { perCall: 1 } });
  const handlers = sessionHandlers({
    ...keys,
    lookup: (key) => lookup.of(key),
    sessions,
    repository: { audit: new AuditLog({ store, clock }) },
    clock,
    active,
    carriers: ['bearer'],
    catalog: () => fakeCatalog(fakeModel('acme/one', [priced]), fakeModel('acme/free', [])),
    async resolveAgent(organization, reference) {
      resolved.push([organization, reference]);
      return { ...AGENT, ...agent };
    },
  });
  const call = async (name: Name, path = '', options: CallOptions = {}) => {
    const { status, body } = await answerOf(handlers[name], {
      path: `/v1/sessions${path}`,
      ...options,
    });
    return { status, body: body as Body };
  };
  const create = async (body: object = {}, options: CallOptions = {}) =>
    call('create', '', { method: 'POST', body: { agent: 'agent_1', ...body }, ...options });
  const made = async (body: object = {}) => String((await create(body)).body['id']);
  const actions = async () =>
    (await listAudit(store, { kind: 'session' })).data.map(({ action, object, changes }) => ({
      action,
      id: object.id,
      paths: changes.map(({ path }) => path),
    }));
  const follow = async (id: string, options: CallOptions = {}) => {
    const { response = openResponse() } = options;
    const path = `/v1/sessions/${id}/events/stream`;
    const answer = await handlers.stream(exchangeOf({ path, ...options, response }));
    const out = new PassThrough();
    let text = '';
    out.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    if ('type' in answer && answer.type === 'stream') answer.body.pipe(out);
    await turns(20);
    return {
      answer,
      text: () => text,
      hasEnded: () => out.writableEnded,
      leave: () => void response.emit('close'),
    };
  };
  const shared = { clock, store, sessions, active, resolved, lookup, keys };
  return { ...shared, call, create, made, actions, follow };
}

describe('a Session that is made', () => {
  it('is of the Agent that is named, and paid for by the key', async () => {
    const { create, resolved, sessions, actions } = setUp();
    const { status, body } = await create({ title: 'first', initial_events: [say('hello')] });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      type: 'session',
      title: 'first',
      agent: { id: 'agent_1', version: 2 },
      entry_point: 'session',
      created_at: '2026-11-21T00:00:00.000Z',
    });
    expect(resolved).toEqual([['org_1', { agentId: 'agent_1' }]]);
    const id = String(body['id']);
    expect(await sessions.get('org_1', id)).toMatchObject({
      payer: { keyId: 'key_1', keyName: 'first', organizationId: 'org_1' },
    });
    const paths = expect.arrayContaining(['title', 'agent_id']);
    expect(await actions()).toEqual([{ action: 'create', id, paths }]);
  });

  it('is kept with its answer for a call that has a name', async () => {
    const { create } = setUp();
    const { named, kept } = namedCall();
    const answer = await create({}, { named });
    expect(kept).toEqual([answer]);
  });

  const budget = { type: 'limit', max_list_cost: { amount: '100', currency: 'USD' } };

  it('may have a budget where its model has a price', async () => {
    const { create } = setUp();
    expect(await create({ budget })).toMatchObject({ status: 201, body: { budget } });
  });

  it.each<[string, Partial<ResolvedAgent>, string]>([
    ['its model has no price', { model: { id: 'acme/free' } }, 'a model that has no price'],
    ['its model is not there', { model: { id: 'acme/none' } }, 'a model that has no price'],
    ['it has no model', { model: null }, 'a model that has no price'],
    ['a harness runs it', { harness: { type: 'coder' } } as never, 'a harness'],
  ])('may have no budget where %s', async (_, agent, what) => {
    const { create } = setUp({}, agent);
    await expect(create({ budget })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'budget',
      type: 'model_not_budgetable',
      message: `budget: the agent is run by ${what}, so its cost cannot be known`,
    });
    for (const none of [{}, { budget: null }]) expect((await create(none)).status).toBe(201);
  });
});

describe('a Session', () => {
  it('is read, changed, archived and removed, and all but reading is noted', async () => {
    const { call, made, actions, clock } = setUp();
    const id = await made({ title: 'first' });
    clock.advance(2_000);
    expect(await call('get', `/${id}`)).toMatchObject({
      status: 200,
      body: { id, title: 'first', stats: { duration_seconds: 2 } },
    });
    const changed = await call('update', `/${id}`, { method: 'POST', body: { title: 'second' } });
    expect(changed).toMatchObject({ status: 200, body: { title: 'second' } });
    const archived = await call('archive', `/${id}/archive`, { method: 'POST' });
    expect(archived).toMatchObject({
      status: 200,
      body: { id, archived_at: '2026-11-21T00:00:02.000Z' },
    });
    const removed = await call('remove', `/${id}`, { method: 'DELETE' });
    expect(removed).toEqual({ status: 200, body: { id, type: 'session_deleted' } });
    const told = (await actions()).toReversed();
    expect(told.map((one) => [one.action, one.id])).toEqual(
      ['create', 'update', 'archive', 'delete'].map((action) => [action, id]),
    );
    expect(told[1]?.paths).toEqual(['title']);
    expect(told[2]?.paths).toEqual(['archived_at']);
  });

  it('keeps the answer to a change for a call that has a name', async () => {
    const { call, made } = setUp();
    const id = await made();
    for (const [name, path] of [
      ['update', `/${id}`],
      ['archive', `/${id}/archive`],
    ] as const) {
      const { named, kept } = namedCall();
      const body = name === 'update' ? { title: 'b' } : undefined;
      const answer = await call(name, path, { method: 'POST', body, named });
      expect(kept).toEqual([answer]);
    }
  });

  it('is none of another organization, or with an id that cannot be read', async () => {
    const { call, sessions } = setUp();
    const { session } = await sessions.create({
      organization: 'org_2',
      payer: { keyId: 'k', keyName: 'k', organizationId: 'org_2' },
      entryPoint: 'session',
      agent: AGENT,
    });
    for (const id of [session.id, 'sess_none', '', '%ff'])
      await expect(call('get', `/${id}`), id).rejects.toMatchObject({ code: 'not_found' });
    await expect(call('get', '/%')).rejects.toMatchObject({ message: 'session not found' });
  });

  it('is found by its id however that is written', async () => {
    const { call, made } = setUp();
    const id = await made();
    expect((await call('get', `/${id.replace('_', '%5F')}`)).body['id']).toBe(id);
  });

  it('is listed with those of its organization', async () => {
    const { call, made } = setUp();
    const ids = [await made(), await made()];
    const { body } = await call('list', '', { search: '?limit=1' });
    expect(body).toMatchObject({ data: [{ id: ids[1] }], next_page: expect.any(String) });
    const rest = await call('list', '', { search: `?page=${String(body['next_page'])}` });
    expect(rest.body).toMatchObject({ data: [{ id: ids[0] }], next_page: null });
  });
});

describe('events of a Session', () => {
  it('are sent and listed', async () => {
    const { call, made } = setUp();
    const id = await made();
    const { named, kept } = namedCall();
    const options = { method: 'POST', body: { events: [say('hello')] }, named };
    const sent = await call('send', `/${id}/events`, options);
    expect(sent).toMatchObject({ status: 200, body: { data: [{ type: 'user.message' }] } });
    expect(kept).toEqual([sent]);
    const [event] = sent.body['data'] as { id: string }[];
    const { body } = await call('listEvents', `/${id}/events`, { search: '?order=asc' });
    const listed = body['data'] as { id: string }[];
    expect(listed.map((one) => one.id)).toContain(event?.id);
  });

  it('are followed until the client leaves', async () => {
    const { made, follow, active, keys, call } = setUp();
    const id = await made();
    const before = keys.inside.now;
    const stream = await follow(id, { headers: { accept: 'application/json' } });
    expect(stream.answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      },
    });
    expect(active.size).toBe(1);
    expect(keys.inside.now).toBe(before + 1);
    await call('send', `/${id}/events`, { method: 'POST', body: { events: [say('hello')] } });
    await turns(20);
    expect(stream.text()).toContain('user.message');
    stream.leave();
    await turns(20);
    expect(active.size).toBe(0);
    expect(keys.inside.now).toBe(before + 1);
  });

  it('are followed from behind the last one that the client saw', async () => {
    const { made, follow, call } = setUp();
    const id = await made();
    const send = async (text: string) => {
      const body = { events: [say(text)] };
      const sent = await call('send', `/${id}/events`, { method: 'POST', body });
      return (sent.body['data'] as { id: string }[])[0]?.id ?? '';
    };
    const first = await send('one');
    const second = await send('two');
    const stream = await follow(id, { headers: { 'last-event-id': first } });
    expect(stream.text()).toContain(second);
    expect(stream.text()).not.toContain(first);
    const fresh = await follow(id, { headers: { 'last-event-id': '' } });
    expect(fresh.text()).not.toContain(second);
  });

  it('are not followed for a client that is gone already', async () => {
    const { made, follow, active } = setUp();
    const response = Object.assign(openResponse(), { destroyed: true });
    await follow(await made(), { response });
    expect(active.size).toBe(0);
  });

  it('are followed until the gateway stops', async () => {
    const { made, follow, active } = setUp();
    const stream = await follow(await made());
    active.shutDown();
    await turns(20);
    expect(stream.hasEnded()).toBe(true);
    expect(active.size).toBe(0);
  });

  it.each<[string, KeyFound]>([
    ['is revoked', 'revoked'],
    ['has other scopes', principal({ scopes: new Set(['models']) })],
    ['has a role that may not read them', principal({ role: 'viewer' })],
    ['belongs to a disabled organization', principal({ organizationEnabled: false })],
  ])('are followed for half a second at most once the key %s', async (_, found) => {
    const { made, follow, lookup, clock, active } = setUp();
    const stream = await follow(await made());
    clock.advance(500);
    await turns(20);
    expect(stream.hasEnded()).toBe(false);
    lookup.of = () => found;
    clock.advance(500);
    await turns(20);
    expect(stream.hasEnded()).toBe(true);
    expect(active.size).toBe(0);
  });

  it('are followed in a place beside those of the calls of the key', async () => {
    const { made, follow, keys } = setUp();
    const id = await made();
    const others = [...keys.holders];
    const stream = await follow(id);
    expect(keys.holders).toEqual([...others, 'key_1/stream']);
    stream.leave();
    expect(keys.holders).toEqual(others);
  });

  it('are not followed for HEAD, nor for a Session that there is not', async () => {
    const { made, follow, active } = setUp();
    const { answer } = await follow(await made(), { method: 'HEAD' });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer).not.toHaveProperty('body');
    await expect(follow('sess_none')).rejects.toMatchObject({ code: 'not_found' });
    expect(active.size).toBe(0);
  });
});

describe('the routes of Sessions', () => {
  const NAMES: readonly Name[] = [
    ...(['list', 'create', 'get', 'update', 'remove', 'archive'] as const),
    ...(['listEvents', 'send', 'stream'] as const),
  ];

  it.each<[string, Partial<Principal>, readonly string[]]>([
    ['no bounds', {}, NAMES],
    ['the scope sessions', { scopes: new Set(['sessions']) }, NAMES],
    ['another scope', { scopes: new Set(['endpoints']) }, []],
    ['the role operator', { role: 'operator' }, NAMES],
    ['the role viewer', { role: 'viewer' }, ['list', 'get']],
    ['the role billing', { role: 'billing' }, []],
  ])('are open to a key with %s as far as it may use them', async (_, of, open) => {
    const { call } = setUp(of);
    const allowed: string[] = [];
    for (const name of NAMES) {
      const fault = await call(name, '/sess_none', { method: 'HEAD' }).catch(
        (error: unknown) => error,
      );
      const isClosed = (fault as { code?: string }).code === 'insufficient_scope';
      if (!isClosed) allowed.push(name);
    }
    expect(allowed).toEqual(open);
  });
});
