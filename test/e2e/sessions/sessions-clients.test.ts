import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import Anthropic0 from 'anthropic-0';
import { describe, expect, it } from 'vitest';
import type { TurnRunner } from '../../../src/sessions/sessions.ts';
import { verifies } from '../../requirements.ts';
import { serveSessions } from '../../sessions/serve-sessions.ts';
import { AGENT, idle, say } from '../../sessions/support.ts';
import { eventually } from '../../support/gateway.ts';

const CLIENTS = [
  ['1.11', (url: string) => new Anthropic({ baseURL: url, apiKey: 'org_1', maxRetries: 0 })],
  [
    '0.137',
    (url: string) =>
      new Anthropic0({ baseURL: url, apiKey: null, authToken: 'org_1', maxRetries: 0 }) as never,
  ],
] as [string, (url: string) => Anthropic][];

const message = (text: string) => ({
  type: 'user.message' as const,
  content: [{ type: 'text' as const, text }],
});

/** Asks for the result of a tool, then says it. */
const toolRunner: TurnRunner = {
  async run(log) {
    if (log.session.status !== 'running') return;
    let result: unknown;
    let use: string | undefined;
    for await (const { event } of log.events()) {
      if (event.type === 'agent.custom_tool_use') use = event.id;
      if (event.type === 'user.custom_tool_result') result = event['content'];
    }
    const { lastInput: handled } = log.session as unknown as { lastInput: number };
    if (result) {
      await log.append([{ type: 'agent.message', content: result }, idle('end_turn')], { handled });
      return;
    }
    if (use) return;
    const [placed] = await log.append([
      { type: 'agent.custom_tool_use', name: 'weather', input: { city: 'Oslo' } },
    ]);
    const event_ids = [placed?.event.id];
    await log.append([idle('requires_action', { event_ids })], { handled });
  },
};

describe.each(CLIENTS)('the official client %s', (_version, connect) => {
  it(
    verifies(
      'sessions.create',
      'sessions.events.send',
      'sessions.events.list',
      'sessions.stream.sse',
      'sessions.archive-delete',
      'leads a Session from its creation to its end',
    ),
    async () => {
      const server = await serveSessions();
      const { sessions } = connect(server.url).beta;
      const session = await sessions.create({
        agent: { type: 'agent', id: 'agent_1', version: 2 },
        environment_id: 'env_1',
        title: 'first',
        metadata: { a: 'b' },
      });
      expect(session).toMatchObject({ status: 'idle', environment_id: 'env_1', title: 'first' });
      const stream = await sessions.events.stream(session.id);
      const sent = await sessions.events.send(session.id, { events: [message('hello')] });
      expect(sent.data?.[0]?.id).toMatch(/^sevt_/);
      const streamed: { id?: string; type: string }[] = [];
      for await (const event of stream) {
        streamed.push(event);
        if (event.type === 'session.status_idle') break;
      }
      const listed: { id?: string; type: string }[] = [];
      for await (const event of sessions.events.list(session.id, { limit: 2, order: 'asc' }))
        listed.push(event);
      expect(streamed).toEqual(listed);
      expect(listed.map(({ type }) => type)).toEqual([
        'user.message',
        'session.status_running',
        'span.model_request_start',
        'agent.message',
        'span.model_request_end',
        'session.status_idle',
      ]);
      const some: string[] = [];
      for await (const { type } of sessions.events.list(session.id, {
        types: ['user.message', 'agent.message'],
        order: 'desc',
        'created_at[gte]': session.created_at,
      }))
        some.push(type);
      expect(some).toEqual(['agent.message', 'user.message']);

      const updated = await sessions.update(session.id, { title: 'second', metadata: { a: null } });
      expect(updated).toMatchObject({ title: 'second', metadata: {} });
      const other = await sessions.create({ agent: 'agent_1', environment_id: 'env_1' });
      const all: string[] = [];
      for await (const { id } of sessions.list({ limit: 1, statuses: ['idle'], order: 'asc' }))
        all.push(id);
      expect(all).toEqual([session.id, other.id]);
      const retrieved = await sessions.retrieve(session.id);
      expect(retrieved).toMatchObject({ id: session.id, status: 'idle' });
      expect((await sessions.archive(session.id)).archived_at).toBeTruthy();
      const refused = sessions.events.send(session.id, { events: [message('more')] });
      await expect(refused).rejects.toMatchObject({ status: 409 });
      const ending = await sessions.events.stream(other.id);
      const deleted = await sessions.delete(other.id);
      expect(deleted).toEqual({ id: other.id, type: 'session_deleted' });
      const last: string[] = [];
      for await (const { type } of ending) last.push(type);
      expect(last).toEqual(['session.deleted']);
      await expect(sessions.retrieve(other.id)).rejects.toMatchObject({
        status: 404,
        error: { error: { type: 'not_found' } },
      });
    },
  );

  it('gets parts of a message that join to it', async () => {
    const runner: TurnRunner = {
      async run(log) {
        if (log.session.status !== 'running') return;
        const id = log.nextEventId();
        log.show({ type: 'event_start', event: { type: 'agent.message', id } });
        for (const text of ['Hel', 'lo']) {
          const delta = { type: 'content_delta', index: 0, content: { type: 'text', text } };
          log.show({ type: 'event_delta', event_id: id, delta });
        }
        const content = [{ type: 'text', text: 'Hello' }];
        await log.append([{ type: 'agent.message', id, content }, idle('end_turn')]);
      },
    };
    const server = await serveSessions({ runner });
    const { sessions } = connect(server.url).beta;
    const { id } = await sessions.create({ agent: 'agent_1', environment_id: 'env_1' });
    const stream = await sessions.events.stream(id, { event_deltas: ['agent.message'] });
    await sessions.events.send(id, { events: [message('x')] });
    const texts: string[] = [];
    for await (const event of stream) {
      if (event.type === 'event_delta') texts.push(event.delta.content.text);
      if (event.type === 'agent.message')
        texts.push(event.content.map((part) => (part as { text: string }).text).join(''));
      if (event.type === 'session.status_idle') break;
    }
    expect(texts).toEqual(['Hel', 'lo', 'Hello']);
  });
});

describe('the tool runner of the official client', () => {
  it('answers the custom tools of a Session to the end of its turn', async () => {
    const server = await serveSessions({ runner: toolRunner });
    server.agents.set('agent_1', AGENT);
    const client = new Anthropic({ baseURL: server.url, apiKey: 'org_1' });
    const { id } = await client.beta.sessions.create({
      agent: 'agent_1',
      environment_id: 'env_1',
    });
    const asked: unknown[] = [];
    const weather = betaTool({
      name: 'weather',
      description: 'tells the weather',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
      run: (input) => {
        asked.push(input);
        return 'sunny';
      },
    });
    const runner = client.beta.sessions.events.toolRunner(id, { tools: [weather], maxIdleMs: 50 });
    const done = (async () => {
      for await (const _event of runner);
    })();
    await eventually(() => server.active.size === 1);
    await server.send(id, [say('how is it in Oslo?')]);
    await done;
    expect(asked).toEqual([{ city: 'Oslo' }]);
    const { events } = await server.sessions.read('org_1', id, {});
    expect(events.map(({ event }) => event.type)).toEqual([
      'user.message',
      'session.status_running',
      'agent.custom_tool_use',
      'session.status_idle',
      'user.custom_tool_result',
      'session.status_running',
      'agent.message',
      'session.status_idle',
    ]);
  });
});
