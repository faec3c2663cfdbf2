import { beforeEach, expect, it } from 'vitest';
import { createToolCredentials } from '../../../../src/server/compose/late/tool-credentials.ts';
import { resolveAgent } from '../../../../src/sessions/resolve-agent.ts';
import type { AgentSource } from '../../../../src/sessions/resolve-agent.ts';
import type { AgentMcpServer } from '../../../../src/sessions/resolved-agent.ts';
import { makeResources } from '../../../resources/make-resources.ts';
import type { Resources } from '../../../resources/make-resources.ts';
import { FakeSession } from '../../../runtime/fake-log.ts';

const DOCS: AgentMcpServer = { type: 'url', name: 'docs', url: 'https://docs.example/mcp' };
const MOVED: AgentMcpServer = { ...DOCS, url: 'https://new.example/mcp' };
const FILES: AgentMcpServer = { type: 'stdio', name: 'docs', server: 'files' };
const TOOLS = [{ type: 'mcp_toolset', mcp_server_name: 'docs' }];

let resources: Resources;
let organization: string;
let agentId: string;

beforeEach(async () => {
  resources = makeResources();
  organization = (await resources.call('POST organizations', { body: { name: 'o' } })).body['id'];
  const body = { name: 'a', model: 'acme/one', mcp_servers: [DOCS], tools: TOOLS };
  agentId = (await call('POST agents', body)).body['id'];
  const scope = { agent_id: agentId, scope: 'mcp', scope_name: 'docs', secret_key: 'token' };
  await call('POST credentials', { ...scope, value: 'secret' });
});

const call = (request: string, body?: object) =>
  resources.call(request, { body, organization, platform: false });

/** Values for each server of a Session that runs the Agent. */
async function sentTo(source: AgentSource, overrides?: Record<string, unknown>) {
  const agent = await resolveAgent(resources.repository, organization, { ...source, overrides });
  const session = { ...new FakeSession().session, organization, agent };
  const { select } = createToolCredentials(resources);
  const found = agent.mcp_servers.map((server) => select(session, server));
  return (await Promise.all(found)).map((chosen) => chosen?.map(({ value }) => value));
}

it('go to the server that the Agent declares', async () => {
  expect(await sentTo({ agentId })).toEqual([['secret']]);
  expect(await sentTo({ agentId }, { mcp_servers: [DOCS] })).toEqual([['secret']]);
});

it.each([
  ['address', MOVED],
  ['program', FILES],
])('go to no other %s of that name', async (_what, server) => {
  expect(await sentTo({ agentId }, { mcp_servers: [server] })).toEqual([undefined]);
});

it('follow the version that the Session has', async () => {
  await call(`PATCH agents/${agentId}`, { mcp_servers: [MOVED] });
  expect(await sentTo({ agentId })).toEqual([['secret']]);
  expect(await sentTo({ agentId, version: 1 })).toEqual([['secret']]);
  expect(await sentTo({ agentId, version: 1 }, { mcp_servers: [MOVED] })).toEqual([undefined]);
});

it('go on while the Agent is archived, and none are there for a declared runtime', async () => {
  const agent = await resolveAgent(resources.repository, organization, { agentId });
  await call(`POST agents/${agentId}/archive`);
  const session = { ...new FakeSession().session, organization, agent };
  const { select } = createToolCredentials(resources);
  expect(await select(session, DOCS)).toMatchObject([{ value: 'secret' }]);
  const declared = { ...session, agent: { ...agent, id: null, version: null } };
  expect(await select(declared, DOCS)).toEqual([]);
});
