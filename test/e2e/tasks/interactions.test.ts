import { LLMock } from '@copilotkit/aimock';
import { GoogleGenAI } from '@google/genai';
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1';
import { GoogleGenAI as GoogleGenAI2 } from 'genai-2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { payloads } from '../../support/chat.ts';
import { startGateway } from '../../support/gateway.ts';
import type { CallOptions, TestGateway } from '../../support/gateway.ts';
import {
  INTERACTIONS_PATH,
  interactionsModel,
  interactionsProvider,
  startScripted,
} from '../../support/interactions.ts';
import type { ScriptedProvider } from '../../support/interactions.ts';
import { beginEvents } from '../../support/stage/upstream.ts';

const RULES = [
  {
    match: { text: 'weather' },
    reply: { tool_calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
  },
  { match: { text: 'boom' }, reply: { text: 'one two three', error_after: 2 } },
  { match: { text: 'think' }, reply: { reasoning: 'let me see', text: 'well' } },
];

interface Streamed {
  event_type?: string;
  interaction?: { id?: string; status?: string };
  delta?: { type?: string; text?: string };
}

const CLIENTS = { '3.1': GoogleGenAI, '2.32': GoogleGenAI2, '1.52': GoogleGenAI1 } as const;

describe('Interactions', () => {
  let mock: MockServer;
  let scripted: ScriptedProvider;
  let gateway: TestGateway;

  beforeAll(async () => {
    mock = await startMockServer({ cassette: { rules: RULES } });
    scripted = await startScripted();
    gateway = await startGateway({
      providers: [
        interactionsProvider('mock', mock.url),
        interactionsProvider('scripted', scripted.url),
        { ...interactionsProvider('chatty', mock.url), protocols: { chat: true } },
      ],
      models: [
        interactionsModel('g/mock', 'mock'),
        interactionsModel('g/scripted', 'scripted'),
        interactionsModel('g/chatty', 'chatty'),
      ],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await scripted.close();
    await mock.close();
  });

  const create = (body: object, options: CallOptions = {}) =>
    gateway.call('POST', INTERACTIONS_PATH, {
      body: { model: 'g/mock', input: 'hello', ...body },
      ...options,
    });
  const options = (apiKey = gateway.clientKey) => ({
    apiKey,
    httpOptions: { baseUrl: gateway.url },
  });

  describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('with client %s', (version) => {
    // oxlint-disable-next-line typescript/no-explicit-any -- three majors, three sets of types
    const client = (): any => new CLIENTS[version](options());

    it(
      verifies('versioning.v1-alias-google', 'answer, are found again and continued'),
      async () => {
        const { interactions } = client();
        const first = await interactions.create({ model: 'g/mock', input: 'hello' });
        expect(first).toMatchObject({ status: 'completed', usage: { total_output_tokens: 4 } });
        expect(JSON.stringify(first.steps)).toContain('You said: hello');
        const found = await interactions.get(first.id);
        expect(found).toMatchObject({ id: first.id, status: 'completed', steps: first.steps });
        const next = await interactions.create({
          model: 'g/mock',
          input: 'and now?',
          previous_interaction_id: first.id,
        });
        expect(next).toMatchObject({ status: 'completed', previous_interaction_id: first.id });
      },
    );

    it(verifies('interactions.stream.sse', 'stream without being asked for sse'), async () => {
      const { interactions } = client();
      const events: Streamed[] = [];
      for await (const event of await interactions.create({
        model: 'g/mock',
        input: 'think',
        stream: true,
      }))
        events.push(event as Streamed);
      expect(events[0]?.event_type).toBe('interaction.created');
      expect(events.at(-1)).toMatchObject({
        event_type: 'interaction.completed',
        interaction: { status: 'completed' },
      });
      expect(events.map(({ delta }) => delta?.text ?? '').join('')).toBe('well');
    });

    it(verifies('interactions.background.durable', 'go on in the background'), async () => {
      const { interactions } = client();
      const { id, status } = await interactions.create({
        model: 'g/mock',
        input: 'hello',
        background: true,
      });
      expect(status).toBe('in_progress');
      expect((await interactions.get(id)).status).toBe('in_progress');
      expect(await interactions.get(id)).toMatchObject({ id, status: 'completed' });
    });

    it('hear of faults in the shape that they read', async () => {
      const { interactions } = client();
      const refusal = await interactions
        .create({ model: 'g/none', input: 'x' })
        .catch((error: unknown) => error);
      expect(refusal).toMatchObject({ status: 404 });
      expect((refusal as Error).message).toContain('g/none');
    });
  });

  it(
    verifies('interactions.create.fields-forwarded', 'reach the provider as the client wrote them'),
    async () => {
      const body = `{"response_modalities":["text"], "tools":[{"type":"function","name":"f"}],"model":"g/mock","input":[{"type":"user_input","content":"x"}],"generation_config":{"temperature":1.0},"response_format":[{"type":"text"}],"store":true,"system_instruction":"be brief","labels":{"a":"b"},"safety_settings":[] }`;
      expect((await gateway.call('POST', '/v1/interactions', { body })).status).toBe(200);
      const call = mock.engine.calls().at(-1);
      expect(call?.body.toString()).toBe(body.replace('"g/mock"', '"up"'));
      expect(call?.path).toBe(INTERACTIONS_PATH);
    },
  );

  it.each(['text', ['a', { type: 'text', text: 'b' }], { type: 'text', text: 'c' }])(
    verifies('interactions.create.required', 'take an input of every kind: %j'),
    async (input) => {
      expect((await create({ input })).status).toBe(200);
      const sent = mock.engine.calls().at(-1)?.body.toString() ?? '';
      expect((JSON.parse(sent) as { input: unknown }).input).toEqual(input);
    },
  );

  it.each([
    { fault: 'no model', body: { model: undefined } },
    { fault: 'no input', body: { input: undefined } },
    {
      fault: 'an agent',
      body: { model: undefined, agent: 'a' },
    },
    {
      fault: 'background and stream at once',
      body: { background: true, stream: true },
    },
    {
      fault: 'a webhook',
      body: { webhook_config: { uris: ['https://a.example'] } },
    },
  ])('refuse $fault before anybody is asked', async ({ body }) => {
    const before = mock.engine.calls().length;
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
    expect(mock.engine.calls()).toHaveLength(before);
  });

  it(
    verifies(
      'interactions.create.required',
      'interactions.create.background-with-stream',
      'refuse what they cannot do in words of the family',
    ),
    async () => {
      const both = await create({ background: true, stream: true });
      expect(both.body.error.message).toContain('`background`');
      expect((await create({ agent: 'a' })).body.error.message).toContain('`model`');
    },
  );

  it(
    verifies(
      'interactions.create.no-mapping',
      'routing.translation.pairs',
      'fail for a model that has no mapping for them, and ask no other protocol',
    ),
    async () => {
      const before = mock.engine.calls().length;
      const answer = await create({ model: 'g/chatty' });
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
      expect((await create({ model: 'g/unknown' })).body.error).toMatchObject({
        code: 404,
        status: 'NOT_FOUND',
      });
      expect(mock.engine.calls()).toHaveLength(before);
    },
  );

  it(
    verifies('interactions.stream.open-events', 'end a stream that fails in its own form'),
    async () => {
      const answer = await create({ input: 'boom', stream: true });
      expect(answer.status).toBe(200);
      const events = payloads(String(answer.body)).map((text) => JSON.parse(text));
      expect(events.at(-1)).toEqual({
        event_type: 'error',
        error: { code: 'UNAVAILABLE', message: expect.any(String) },
      });
      expect(events.some(({ event_type: type }) => type === 'interaction.completed')).toBe(false);
    },
  );

  it(
    verifies('interactions.stream.open-events', 'pass events on that nobody has heard of'),
    async () => {
      const told = [
        'event: interaction.created\ndata: {"event_type":"interaction.created","interaction":{"id":"v1_x","status":"in_progress"}}\n\n',
        'event: aura.delta\ndata: {"event_type":"aura.delta","delta":{"type":"aura","hue":1.0}}\n\n',
        'event: step.delta\ndata: {"event_type":"step.delta","index":0,"delta":{"type":"scent","n":9007199254740993}}\n\n',
        'event: interaction.completed\ndata: {"event_type":"interaction.completed","interaction":{"id":"v1_x","status":"completed"}}\n\n',
        'event: done\ndata: [DONE]\n\n',
      ].join('');
      scripted.play = (response) => {
        beginEvents(response);
        response.end(told);
      };
      const answer = await create({ model: 'g/scripted', stream: true });
      expect(answer.headers.get('content-type')).toContain('text/event-stream');
      expect(answer.body).toBe(told);
    },
  );

  it(verifies('interactions.stream.sse', 'answer 400 where a model does not stream'), async () => {
    scripted.play = undefined;
    scripted.created = { id: 'v1_y', status: 'completed', steps: [] };
    const answer = await create({ model: 'g/scripted', stream: true });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
  });

  it(
    verifies('interactions.not-exposed', 'are neither listed nor deleted nor cancelled'),
    async () => {
      const { id } = (await create({})).body;
      const before = mock.engine.calls().length;
      for (const [method, path] of [
        ['GET', INTERACTIONS_PATH],
        ['DELETE', `${INTERACTIONS_PATH}/${id}`],
        ['PATCH', `${INTERACTIONS_PATH}/${id}`],
        ['POST', `${INTERACTIONS_PATH}/${id}/cancel`],
        ['GET', `${INTERACTIONS_PATH}/${id}/steps`],
        ['DELETE', `/v1/interactions/${id}`],
      ] as const) {
        const answer = await gateway.call(method, path);
        expect([404, 405]).toContain(answer.status);
        expect(answer.body.error).toMatchObject({
          code: answer.status,
          status: expect.any(String),
          message: expect.any(String),
        });
      }
      expect(mock.engine.calls()).toHaveLength(before);
      for (const end of ['', '/'])
        expect((await gateway.call('GET', `${INTERACTIONS_PATH}/${id}${end}`)).status).toBe(200);
    },
  );

  it(
    verifies('auth.google.query-key-stripped', 'keep a key of the query to themselves'),
    async () => {
      const { id } = (await create({ background: true })).body;
      const key = gateway.clientKey;
      const query = `?key=${key}&include_input=true`;
      const answer = await gateway.call('GET', `${INTERACTIONS_PATH}/${id}${query}`, { key: '' });
      expect(answer.status).toBe(200);
      const call = mock.engine.calls().at(-1);
      expect(call?.path).toBe(`${INTERACTIONS_PATH}/${id}?include_input=true`);
      expect(JSON.stringify(call?.headers)).not.toContain(key);
      expect(gateway.log()).not.toContain(key);
    },
  );
});

describe('Interactions with a provider that nobody here wrote', () => {
  it('answer and stream', async () => {
    const aimock = new LLMock({ port: 0 });
    aimock.addFixture({ match: { userMessage: 'hello' }, response: { content: 'hi from afar' } });
    const url = await aimock.start();
    const gateway = await startGateway({
      providers: [interactionsProvider('aimock', url)],
      models: [interactionsModel('g/m', 'aimock')],
    });
    try {
      const { interactions } = new GoogleGenAI({
        apiKey: gateway.clientKey,
        httpOptions: { baseUrl: gateway.url },
      });
      const whole = await interactions.create({ model: 'g/m', input: 'hello', stream: false });
      expect(whole).toMatchObject({ status: 'completed', output_text: 'hi from afar' });
      let said = '';
      for await (const event of await interactions.create({
        model: 'g/m',
        input: 'hello',
        stream: true,
      }))
        said += (event as Streamed).delta?.text ?? '';
      expect(said).toBe('hi from afar');
    } finally {
      await gateway.stop();
      await aimock.stop();
    }
  });
});
