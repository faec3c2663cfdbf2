import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const MAIN = '---\nname: whales\ndescription: Knows whales.\n---\nAsk the captain.\n';
const TOOL = 'gateway-skills__load_skill';

let gateway: TestGateway;
let agent: string;
let client: Anthropic;

beforeAll(async () => {
  const reply = (text: string) => ({ text });
  gateway = await startGateway({
    providers: [
      {
        name: 'acme',
        type: 'mock',
        mock: {
          rules: [
            { match: { text: 'a blue whale' }, reply: reply('I see a whale.') },
            {
              match: { text: 'ask the skill', turn: 1 },
              reply: { tool_calls: [{ name: TOOL, arguments: { name: 'whales' } }] },
            },
          ],
        },
      },
    ],
    models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
  });
  client = new Anthropic({ apiKey: gateway.clientKey, baseURL: gateway.url, maxRetries: 0 });
  agent = (await client.beta.agents.create({ name: 'Ishmael', model: 'acme/one' })).id;
});
afterAll(() => gateway.stop());

const newSession = async (of = agent): Promise<string> =>
  (await client.beta.sessions.create({ agent: of, environment_id: 'env_1' })).id;

const message = (...content: object[]) => ({ type: 'user.message', content }) as never;
const naming = (id: string) => ({ type: 'document', source: { type: 'file', file_id: id } });

async function idle(session: string, times = 1): Promise<any[]> {
  return eventually(async () => {
    const all: any[] = [];
    for await (const event of client.beta.sessions.events.list(session)) all.push(event);
    return all.filter(({ type }) => type === 'session.status_idle').length >= times && all;
  });
}
const said = (events: any[]) =>
  events.filter(({ type }) => type === 'agent.message').map(({ content }) => content[0].text);

describe('a file of a message', () => {
  it('is shown to the model; the log keeps its id', async () => {
    const file = await toFile(Buffer.from('# a blue whale'), 'whale.md');
    const { id } = await client.beta.files.upload({ file });
    const session = await newSession();
    await client.beta.sessions.events.send(session, { events: [message(naming(id))] });
    const events = await idle(session);
    expect(said(events)).toEqual(['I see a whale.']);
    expect(events[0].content).toEqual([naming(id)]);

    await client.beta.files.delete(id);
    const text = { type: 'text', text: 'And now?' };
    await client.beta.sessions.events.send(session, { events: [message(text)] });
    // The conversation goes on without it.
    expect(said(await idle(session, 2))[1]).toBe('You said: And now?');
  });

  it('must be there and be of the organization, at every entry point', async () => {
    await gateway.admin('POST', '/admin/v1/organizations', { name: 'pequod' });
    const body = { name: 'ahab', organization: 'pequod' };
    const { value: key } = (await gateway.admin('POST', '/admin/v1/keys', body)).body;
    const other = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 });
    const file = await toFile(Buffer.from('x'), 'x.txt');
    const { id: foreign } = await other.beta.files.upload({ file });
    const session = await newSession();
    const service = await gateway.call('POST', '/v1/endpoints', {
      body: { name: 'whaler', agent_id: agent, protocols: ['rest'] },
    });
    for (const id of [foreign, 'file_none']) {
      const events = [message({ type: 'text', text: 'Look.' }, naming(id))];
      const path = 'content[1].source.file_id';
      const sent = await gateway.call('POST', `/v1/sessions/${session}/events`, {
        body: { events },
      });
      expect(sent).toMatchObject({ status: 404, body: { error: { param: `events[0].${path}` } } });
      const made = await gateway.call('POST', '/v1/sessions', {
        body: { agent, initial_events: events },
      });
      expect(made).toMatchObject({
        status: 404,
        body: { error: { param: `initial_events[0].${path}` } },
      });
      const run = await gateway.call('POST', `/v1/endpoints/${service.body.id}/run`, {
        body: { content: [{ type: 'text', text: 'Look.' }, naming(id)] },
      });
      expect(run.status).toBe(404);
      const schedule = await gateway.call('POST', '/v1/deployments', {
        body: { name: 'report', agent_id: agent, initial_events: events },
      });
      expect(schedule).toMatchObject({
        status: 404,
        body: { error: { param: `initial_events[0].${path}` } },
      });
    }
    const all = await gateway.call('GET', `/v1/sessions/${session}/events`);
    expect(all.body.data).toEqual([]);
  });

  it('may be deleted while a Schedule names it, which can still be changed', async () => {
    const file = await toFile(Buffer.from('x'), 'x.txt');
    const { id } = await client.beta.files.upload({ file });
    const initial_events = [message(naming(id))];
    const made = await gateway.call('POST', '/v1/deployments', {
      body: { name: 'report', agent_id: agent, initial_events },
    });
    expect(made.status).toBe(201);
    await client.beta.files.delete(id);
    const path = `/v1/deployments/${made.body.id}`;
    const change = async (body: object) => (await gateway.call('PATCH', path, { body })).status;
    expect(await change({ name: 'weekly', initial_events })).toBe(200);
    expect(await change({ initial_events: [message(naming('file_none'))] })).toBe(404);
  });

  it('is one of at most 100 of a call', async () => {
    const session = await newSession();
    const many = Array.from({ length: 101 }, (_, index) => naming(`file_${index}`));
    const body = { events: [message(...many)] };
    const refused = await gateway.call('POST', `/v1/sessions/${session}/events`, { body });
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'events' } } });
  });
});

describe('a Skill of an Agent', () => {
  it('is read by the model in the version that is pinned', async () => {
    const upload = async (text: string) => [await toFile(Buffer.from(text), 'whales/SKILL.md')];
    const skill = await client.beta.skills.create({ files: await upload(MAIN) });
    const { id } = await client.beta.agents.create({
      name: 'Queequeg',
      model: 'acme/one',
      skills: [{ type: 'custom', skill_id: skill.id }],
    });
    const newer = MAIN.replace('captain', 'cook');
    await client.beta.skills.versions.create(skill.id, { files: await upload(newer) });
    const session = await newSession(id);
    const text = { type: 'text', text: 'ask the skill' };
    await client.beta.sessions.events.send(session, { events: [message(text)] });
    const events = await idle(session);
    const use = events.find(({ type }) => type === 'agent.mcp_tool_use');
    expect(use).toMatchObject({ mcp_server_name: 'gateway-skills', evaluated_permission: 'allow' });
    const result = events.find(({ type }) => type === 'agent.mcp_tool_result');
    expect(result).toMatchObject({
      mcp_tool_use_id: use.id,
      content: [{ type: 'text', text: 'Ask the captain.' }],
      is_error: false,
    });
    expect(said(events)).toEqual(['The tool said: Ask the captain.']);
  });

  it('keeps the name of its server to itself', async () => {
    const body = {
      name: 'x',
      model: 'acme/one',
      mcp_servers: [{ type: 'url', name: 'gateway-skills', url: 'https://a.example' }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'gateway-skills' }],
    };
    const refused = await gateway.call('POST', '/v1/agents', { body });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { param: 'mcp_servers[0].name' } },
    });
  });
});
