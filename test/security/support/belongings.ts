import { Buffer } from 'node:buffer';
import { CANARIES, whenever } from './api-world.ts';
import type { Member } from './api-world.ts';

/** One of everything that belongs to an organization, by what bodies and paths call it. */
export interface Belongings {
  agent: string;
  skill: string;
  skillVersion: string;
  file: string;
  credential: string;
  service: string;
  deployment: string;
  deploymentRun: string;
  session: string;
  run: string;
  delivery: string;
  asset: string;
  assetId: string;
  /** Path of a signed link to its bytes. */
  assetLink: string;
  video: string;
  interaction: string;
  response: string;
  execution: string;
  /** Of an MCP connection. */
  transport: string;
  organization: string;
  /** Last event of the session. */
  event: string;
  /** Name and slug of what nobody else calls so. */
  name: string;
}

/** The same of everybody. */
export const SHARED_NAME = 'same-in-both';
export const SKILL = '---\nname: review\ndescription: Reviews code.\n---\nRead it.';
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};
export const MCP_HEADERS = { accept: 'application/json, text/event-stream' };

const user = (text: string) => ({ role: 'user', content: text });

/** Makes them, and waits until nothing goes on any more. */
export async function makeBelongings(
  member: Member,
  outside: string,
  slug = SHARED_NAME,
): Promise<Belongings> {
  const made = (path: string, body: unknown) => member.made({ method: 'POST', path, body });
  const skill = await made('/v1/skills', { name: slug, files: { 'SKILL.md': SKILL } });
  const upload = new Blob([Buffer.from('A note.')], { type: 'text/plain' });
  const file = await member.made({
    method: 'POST',
    path: '/v1/files',
    form: [['file', upload]],
  });
  const agent = await made('/v1/agents', {
    name: SHARED_NAME,
    model: 'acme/text',
    skills: [{ type: 'custom', skill_id: skill.id }],
  });
  const credential = await made('/v1/credentials', {
    agent_id: agent.id,
    scope: 'mcp',
    scope_name: SHARED_NAME,
    secret_key: 'TOKEN',
    value: CANARIES.credential,
  });
  const service = await made('/v1/endpoints', {
    name: SHARED_NAME,
    slug,
    agent_id: agent.id,
    protocols: ['rest', 'mcp', 'acp'],
  });
  const deployment = await made('/v1/deployments', {
    name: SHARED_NAME,
    agent_id: agent.id,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }],
    notification_settings: { chat_webhook_url: `${outside}/bots/${CANARIES.hook}` },
  });
  const triggered = await made(`/v1/deployments/${deployment.id}/runs`, {});
  const said = await made(`/v1/endpoints/${service.id}/run`, { input: 'hello' });
  const run = await made('/v1/run', {
    model: 'acme/text',
    input: { messages: [user('hello')] },
    webhook_url: `${outside}/hook`,
  });
  const asset = await made('/v1/assets', {
    url: `${outside}/photo.png`,
    asset_type: 'Image',
    name: SHARED_NAME,
  });
  const assetId: string = asset.asset_url.slice('asset://'.length);
  const shown = await member.made({ method: 'GET', path: `/v1/assets/${assetId}` });
  const link = new URL(shown.download_url);
  const video = await made('/v1/videos', { model: 'acme/film', prompt: 'A fox.' });
  const interaction = await made('/v1beta/interactions', { model: 'acme/text', input: 'hello' });
  // The mock gives the same id to the same call.
  const asked = { model: 'acme/text', input: said.session_id };
  const response = await made('/v1/responses', asked);
  const transport = await member.send({
    method: 'POST',
    path: `/v1/endpoints/${service.id}/mcp`,
    body: INITIALIZE,
    headers: MCP_HEADERS,
  });
  const delivery = await settled(member, said.session_id, triggered.id);
  const name = `only-${member.organization.replaceAll('_', '-')}-${slug}`;
  await made('/v1/endpoints', { name, slug: name, agent_id: agent.id, protocols: ['rest'] });
  const { data: events } = await member.made({
    method: 'GET',
    path: `/v1/sessions/${said.session_id}/events?order=asc`,
  });
  return {
    agent: agent.id,
    skill: skill.id,
    skillVersion: skill.latest_version_id,
    file: file.id,
    credential: credential.data.id,
    service: service.id,
    deployment: deployment.id,
    deploymentRun: triggered.id,
    session: said.session_id,
    run: run.id,
    delivery,
    asset: asset.asset_url,
    assetId,
    assetLink: link.pathname + link.search,
    video: video.id,
    interaction: interaction.id,
    response: response.id,
    execution: await lastExecution(member),
    transport: transport.headers.get('mcp-session-id') ?? '',
    organization: member.organization,
    event: events.at(-1).id,
    name,
  };
}

/** Everything that goes on by itself has come to its end; gives the webhook that it sent. */
async function settled(member: Member, session: string, run: string): Promise<string> {
  await whenever(member, `/v1/sessions/${session}`, ({ status }) => status === 'idle');
  const decided = await whenever(member, `/v1/deployment_runs/${run}`, (one) => one.session_id);
  await whenever(member, `/v1/sessions/${decided.session_id}`, ({ status }) => status === 'idle');
  const { data } = await whenever(member, '/v1/webhooks/deliveries', ({ data: sent }) =>
    sent.some((one: { status: string }) => one.status === 'delivered'),
  );
  return data[0].id;
}

/** The record of a call is final a little after its answer. */
async function lastExecution(member: Member): Promise<string> {
  const { data } = await whenever(
    member,
    '/v1/account/executions',
    ({ data: calls }) =>
      calls.length > 0 && calls.every((call: { result: string }) => call.result !== 'pending'),
  );
  return data[0].id;
}
