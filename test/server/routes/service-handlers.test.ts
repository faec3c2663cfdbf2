import { describe, expect, it } from 'vitest';
import { createIdSource } from '../../../src/core/ids.ts';
import { createSealer } from '../../../src/core/seal.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { ActiveExchanges } from '../../../src/inference/active-exchanges.ts';
import type { Service } from '../../../src/runtime/entry/service-desk.ts';
import { serviceHandlers } from '../../../src/server/routes/service-handlers.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { AGENT, createRig, historyOf, pending } from '../../sessions/support.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { exchangeOf, keyring, namedCall, openResponse } from './handler-calls.ts';
import type { CallOptions } from './handler-calls.ts';

const SERVICE: Service = {
  id: 'ep/1',
  organization: 'org_1',
  name: 'Helper',
  status: 'active',
  protocols: ['rest', 'mcp', 'acp'],
  sessionMetadata: { team: 'blue' },
};

type Name = keyof ReturnType<typeof serviceHandlers>;

function setUp(of: Partial<Principal> = {}, service: Partial<Service> = {}) {
  const clock = createFakeClock();
  const { sessions, store } = createRig({ clock, runner: pending });
  const keys = keyring(of);
  const asked: string[] = [];
  const handlers = serviceHandlers({
    ...keys,
    store,
    sessions,
    clock,
    ids: createIdSource(clock),
    sealer: createSealer([Buffer.alloc(32, 7)]),
    active: new ActiveExchanges(),
    standing: new ActiveExchanges(),
    carriers: ['bearer'],
    desk: {
      async find(organization, id) {
        asked.push(`${organization} ${id}`);
        if (organization === SERVICE.organization && id === SERVICE.id)
          return { ...SERVICE, ...service };
        throw new GatewayError('not_found', { message: 'endpoint not found' });
      },
      agentOf: async () => AGENT,
    },
    onBug: (thrown) => {
      throw thrown;
    },
  });
  const call = async (name: Name, options: CallOptions = {}) => {
    const response = openResponse();
    const path = `/v1/endpoints/ep%2F1/${name}`;
    const exchange = exchangeOf({ method: 'POST', path, response, ...options });
    const answer = await handlers[name](exchange);
    return { answer, exchange, close: () => void response.emit('close') };
  };
  const run = async (body: object | string, options: CallOptions = {}) => {
    const { answer } = await call('run', { body, ...options });
    const { status } = answer;
    const told = answer.body as unknown as { session_id: string; events: { id: string }[] };
    return { status, body: told };
  };
  return { call, run, asked, sessions, inside: keys.inside };
}

describe('a run of a Service', () => {
  it('begins a Session with one message, paid for by the key', async () => {
    const { run, asked, sessions } = setUp();
    const { status, body } = await run({ input: 'hello' });
    expect(status).toBe(202);
    expect(body).toEqual({
      session_id: expect.stringMatching(/^sess_/),
      events: [
        {
          id: expect.stringMatching(/^sevt_/),
          type: 'user.message',
          processed_at: '2026-11-21T00:00:00.000Z',
        },
      ],
    });
    expect(asked).toEqual(['org_1 ep/1']);
    expect(await sessions.get('org_1', body.session_id)).toMatchObject({
      endpointId: 'ep/1',
      metadata: { team: 'blue' },
      payer: { keyId: 'key_1', keyName: 'first', organizationId: 'org_1' },
    });
  });

  it('goes on with the Session that is named', async () => {
    const { run, sessions } = setUp();
    const { body: first } = await run({ input: 'one' });
    const { body: second } = await run({ input: 'two', session_id: first.session_id });
    expect(second.session_id).toBe(first.session_id);
    const history = await historyOf(sessions, first.session_id);
    expect(history.filter(({ event }) => event.type === 'user.message')).toHaveLength(2);
  });

  it('is kept with its answer for a call that has a name', async () => {
    const { run } = setUp();
    const { named, kept } = namedCall();
    const answer = await run({ input: 'hello' }, { named });
    expect(kept).toEqual([answer]);
  });

  it('needs the body no more once it is answered', async () => {
    const { call } = setUp();
    const { exchange } = await call('run', { body: { input: 'hello' } });
    expect(exchange.intake.held).toBe(0);
  });

  it.each([
    [{}, 'input'],
    [{ input: 'a', content: [{ type: 'text', text: 'b' }] }, 'input'],
    [{ input: '' }, 'input'],
  ])('is refused with another body: %j', async (body, param) => {
    const { run } = setUp();
    await expect(run(body)).rejects.toMatchObject({ code: 'invalid_request', param });
  });

  it('is refused with more bytes than it may have', async () => {
    const { run } = setUp();
    await expect(run({ input: 'x'.repeat(10_000) })).rejects.toMatchObject({
      code: 'body_too_large',
    });
  });

  it('holds the place of its key until the response is over', async () => {
    const { call, inside } = setUp();
    const { close } = await call('run', { body: { input: 'hello' } });
    expect(inside).toEqual({ now: 1, ever: 1 });
    close();
    expect(inside.now).toBe(0);
  });
});

describe('a Service', () => {
  const NAMES: Readonly<Record<Name, 'rest' | 'mcp' | 'acp'>> = {
    run: 'rest',
    listenMcp: 'mcp',
    postMcp: 'mcp',
    closeMcp: 'mcp',
    postAcp: 'acp',
  };

  it.each(Object.entries(NAMES) as [Name, 'rest' | 'mcp' | 'acp'][])(
    'is called by a protocol that it speaks: %s',
    async (name, protocol) => {
      const others = (['rest', 'mcp', 'acp'] as const).filter((one) => one !== protocol);
      const { call } = setUp({}, { protocols: others });
      await expect(call(name)).rejects.toMatchObject({
        type: 'protocol_not_enabled',
        message: expect.stringContaining(`does not speak ${protocol};`),
      });
    },
  );

  it('is called by nobody while it is disabled', async () => {
    const { call } = setUp({}, { status: 'disabled' });
    for (const name of Object.keys(NAMES) as Name[])
      await expect(call(name)).rejects.toMatchObject({ type: 'endpoint_disabled' });
  });

  it('is found by its id in the organization of the key alone', async () => {
    const other = setUp({ organizationId: 'org_2' });
    await expect(other.run({ input: 'a' })).rejects.toMatchObject({ code: 'not_found' });
    expect(other.asked).toEqual(['org_2 ep/1']);
    const { run, asked } = setUp();
    for (const id of ['', 'ep', 'ep/1'])
      await expect(run({ input: 'a' }, { path: `/v1/endpoints/${id}` })).rejects.toMatchObject({
        code: 'not_found',
      });
    expect(asked).toEqual(['org_1 ', 'org_1 ep', 'org_1 ep']);
  });

  it.each<[string, Partial<Principal>, boolean]>([
    ['no bounds', {}, true],
    ['the scope endpoints', { scopes: new Set(['endpoints']) }, true],
    ['another scope', { scopes: new Set(['sessions', 'run']) }, false],
    ['the role operator', { role: 'operator' }, true],
    ['the role viewer', { role: 'viewer' }, false],
  ])('is open to a key with %s: %#', async (_, of, isOpen) => {
    const { run } = setUp(of);
    const asked = run({ input: 'hello' });
    if (isOpen) expect((await asked).status).toBe(202);
    else await expect(asked).rejects.toMatchObject({ code: 'insufficient_scope' });
  });

  it('is closed without a key', async () => {
    const { run } = setUp();
    const headers = { authorization: '', 'x-api-key': 'sk-1' };
    await expect(run({ input: 'a' }, { headers })).rejects.toMatchObject({
      code: 'missing_api_key',
    });
  });
});
