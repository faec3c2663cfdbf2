import { describe, expect, it } from 'vitest';
import { kindHandlers, kindUse } from '../../../src/server/routes/kind-handlers.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { answerOf, exchangeOf, keyring } from './handler-calls.ts';
import type { CallOptions } from './handler-calls.ts';

async function setUp(of: Partial<Principal> = {}) {
  const { repository, call } = makeResources();
  const { body } = await call('POST organizations', { body: { name: 'acme' } });
  const keys = keyring({ organizationId: String(body['id']), ...of });
  const handlers = kindHandlers({ ...keys, repository, resourceXApiKey: false });
  const agents = (method: string, below = '', options: CallOptions = {}) =>
    answerOf(handlers['agent'], { method, path: `/v1/agents${below}`, ...options });
  const own = async () => (await call('GET agents')).body['data'] as Record<string, unknown>[];
  return {
    repository,
    call,
    handlers,
    agents,
    own,
    inside: keys.inside,
    owner: String(body['id']),
  };
}

const AGENT = { name: 'helper', model: 'acme/one' };

describe('the handlers of kinds', () => {
  it('are there for those that organizations reach', async () => {
    const { handlers, repository } = await setUp();
    const reached = repository.definitions.filter(({ api }) => api).map(({ kind }) => kind);
    expect(Object.keys(handlers)).toEqual(reached);
    expect(reached).toContain('agent');
    expect(reached).not.toContain('organization');
  });

  it('make, read and change what belongs to the organization of the key', async () => {
    const { agents, own, owner, inside } = await setUp();
    const made = await agents('POST', '', { body: { ...AGENT, organization: 'org_other' } });
    expect(made).toMatchObject({ status: 201, body: { name: 'helper' } });
    const { id } = made.body as { id: string };
    expect(await own()).toMatchObject([{ id, organization: owner }]);
    expect(await agents('GET', `/${id}`)).toMatchObject({ status: 200, body: { id } });
    expect(await agents('GET')).toMatchObject({ status: 200, body: { data: [{ id }] } });
    await expect(agents('GET', '/agent_none')).rejects.toMatchObject({ code: 'not_found' });
    expect(inside.now).toBe(0);
  });

  it('tell where in YAML a member is at fault', async () => {
    const { handlers, inside } = await setUp();
    const asked = answerOf(handlers['deployment'], {
      method: 'POST',
      path: '/v1/deployments',
      headers: { 'content-type': 'application/yaml' },
      body: 'name: nightly\ninitial_events: never\n',
    });
    await expect(asked).rejects.toMatchObject({
      param: 'initial_events',
      message: expect.stringContaining('line 2'),
    });
    expect(inside.now).toBe(0);
  });

  it('are closed to keys with another scope or role', async () => {
    const no = { code: 'insufficient_scope' };
    const scoped = await setUp({ scopes: new Set(['sessions']) });
    await expect(scoped.agents('GET')).rejects.toMatchObject(no);
    const viewer = await setUp({ role: 'viewer' });
    expect(await viewer.agents('GET')).toMatchObject({ status: 200 });
    await expect(viewer.agents('POST', '', { body: AGENT })).rejects.toMatchObject(no);
  });

  it.each([
    [['agents'], false],
    [['agents', 'credentials'], true],
    [['agents', 'admin'], true],
    [null, true],
  ])('let a key with the scopes %j move what gets a Credential: %s', async (scopes, isLet) => {
    const { agents, call } = await setUp({ scopes: scopes && new Set(scopes) });
    const server = { type: 'url', name: 'docs', url: 'https://docs.example/mcp' };
    const tools = [{ type: 'mcp_toolset', mcp_server_name: 'docs' }];
    const made = await agents('POST', '', { body: { ...AGENT, mcp_servers: [server], tools } });
    const { id, organization } = (await call('GET agents')).body['data'][0];
    expect(made.body).toMatchObject({ id });
    const scope = { agent_id: id, scope: 'mcp', scope_name: 'docs', secret_key: 'token' };
    await call('POST credentials', { body: { ...scope, value: 'v', organization } });
    const body = { mcp_servers: [{ ...server, url: 'https://new.example/mcp' }] };
    const moved = agents('PATCH', `/${id}`, { body });
    if (isLet) expect(await moved).toMatchObject({ status: 200 });
    else await expect(moved).rejects.toMatchObject({ code: 'insufficient_scope', status: 403 });
  });
});

describe('the use of a call', () => {
  const BASE = '/v1/things';
  const USES = { read: 'costs', change: 'govern', content: 'events' } as const;
  const useOf = (method: string, below: string, uses?: typeof USES) =>
    kindUse({ uses }, BASE, exchangeOf({ method, path: BASE + below }));

  it.each([
    ['GET', '', 'read', 'costs'],
    ['GET', '/a', 'read', 'costs'],
    ['HEAD', '/a', 'read', 'costs'],
    ['GET', '/a/events', 'read', 'content'],
    ['HEAD', '/a/events', 'read', 'content'],
    ['GET', '/events', 'read', 'costs'],
    ['GET', '/a/versions', 'read', 'costs'],
    ['POST', '', 'write', 'govern'],
    ['POST', '/a/events', 'write', 'govern'],
    ['PATCH', '/a', 'write', 'govern'],
    ['DELETE', '/a', 'write', 'govern'],
  ])('follows from its method and path: %s %s', async (...row) => {
    const [method, below, plain, declared] = row;
    expect(useOf(method, below)).toBe(plain);
    expect(useOf(method, below, USES)).toBe(declared);
  });
});
