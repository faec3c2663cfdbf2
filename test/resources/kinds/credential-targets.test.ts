import { beforeEach, expect, it } from 'vitest';
import type { ScopeName } from '../../../src/core/access.ts';
import { makeResources } from '../make-resources.ts';
import type { Resources } from '../make-resources.ts';

const DOCS = { type: 'url', name: 'docs', url: 'https://docs.example/mcp' };
const MOVED = { ...DOCS, url: 'https://elsewhere.example/mcp' };
const TOOLS = ['docs', 'other'].map((name) => ({ type: 'mcp_toolset', mcp_server_name: name }));
const OTHER = { type: 'url', name: 'other', url: 'https://other.example/mcp' };

let resources: Resources;
let home: string;
let agent: string;

beforeEach(async () => {
  resources = makeResources();
  home = (await resources.call('POST organizations', { body: { name: 'home' } })).body['id'];
  const body = { name: 'a', model: 'acme/one', mcp_servers: [OTHER], tools: [TOOLS[1]] };
  agent = (await call('POST agents', body)).body['id'];
});

const call = (request: string, body: object, scopes?: readonly ScopeName[]) => {
  const has = (scope: ScopeName): boolean => scopes?.includes(scope) ?? true;
  const rights = { has, may: () => true };
  return resources.call(request, { body, organization: home, platform: false, rights });
};

const keep = (scope_name: string) =>
  call('POST credentials', {
    agent_id: agent,
    scope: 'mcp',
    scope_name,
    secret_key: 'token',
    value: 'v',
  });

const declare = (servers: readonly object[], scopes?: readonly ScopeName[]) =>
  call(`PATCH agents/${agent}`, { mcp_servers: servers, tools: TOOLS.slice(0, 2) }, scopes);

it('an address whose server has a Credential changes only with the scope credentials', async () => {
  await declare([DOCS, OTHER]);
  const { body } = await keep('docs');
  for (const moved of [MOVED, { type: 'stdio', name: 'docs', server: 'files' }])
    expect(await declare([OTHER, moved], ['agents'])).toMatchObject({
      status: 403,
      body: {
        code: 'insufficient_scope',
        param: 'mcp_servers[1]',
        message: expect.stringMatching(
          `^insufficient_scope: mcp_servers\\[1\\]: the Credential ${body['data'].id} is sent to docs; `,
        ),
      },
    });
  expect((await call(`GET agents/${agent}`, {})).body['mcp_servers']).toEqual([DOCS, OTHER]);
  expect(await declare([MOVED, OTHER], ['agents', 'credentials'])).toMatchObject({ status: 200 });
});

it('nor comes a server under a name that has a Credential', async () => {
  await keep('docs');
  expect(await declare([DOCS, OTHER], ['agents'])).toMatchObject({ status: 403 });
  expect(await declare([DOCS, OTHER])).toMatchObject({ status: 200 });
});

it('all else of the Agent changes as before', async () => {
  await declare([DOCS, OTHER]);
  await keep('docs');
  const elsewhere = { ...OTHER, url: 'https://third.example/mcp' };
  expect(await declare([elsewhere, DOCS], ['agents'])).toMatchObject({ status: 200 });
  const rest = { name: 'b', system: 's', mcp_servers: null, tools: [], harness: 'coder' };
  expect(await call(`PATCH agents/${agent}`, rest, ['agents'])).toMatchObject({ status: 200 });
});

it('nor does a program of the Agent itself under a name that has a Credential', async () => {
  const { repository } = resources;
  const definition = repository.definitionOf('agent');
  const harness = { name: 'docs', command: '/bin/own' };
  await keep('docs');
  const before = await repository.get(definition, agent, { organization: home });
  const permit = (own: object) =>
    definition.permit?.({
      repository,
      before,
      next: { ...before, spec: { ...before.spec, harness: own } },
      body: {},
      rights: { has: () => false, may: () => true },
    });
  await expect(permit(harness)).rejects.toMatchObject({ param: 'harness' });
  await permit({ ...harness, name: 'unnamed' });
});
