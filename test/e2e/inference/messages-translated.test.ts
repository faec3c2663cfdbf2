import Anthropic from '@anthropic-ai/sdk';
import { LLMock } from '@copilotkit/aimock';
import Anthropic0 from 'anthropic-0';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { chunk } from '../../support/chat.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { messagesEvents } from '../../support/messages.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';
import { providerPerProtocol } from '../../support/stage/provider-per-protocol.ts';

const PROTOCOLS = ['chat', 'responses', 'generate-content'] as const;
const CALLS = ['Oslo', 'Bergen', 'Tromsø'].map((city, index) => ({
  name: `look_${index}`,
  arguments: `{"city":"${city}","big":1152921504606846977}`,
}));
const TOOLS = CALLS.map(({ name }) => ({
  name,
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
}));
const RULES = [
  { match: { text: 'three', turn: 1 }, reply: { text: 'Let me see.', tool_calls: CALLS } },
  { match: { text: 'bare', turn: 1 }, reply: { tool_calls: [{ name: 'look_0', arguments: '' }] } },
  { match: { text: 'think' }, reply: { reasoning: 'because', text: 'so' } },
  { match: { text: 'long' }, reply: { text: 'cut short', finish: 'length' } },
  { match: { text: 'odd' }, reply: { text: 'what', finish: 'never_heard_of' } },
  { match: { text: 'filtered' }, reply: { text: 'no', finish: 'content_filter' } },
  { match: { text: 'break' }, reply: { text: 'one two three four', cut_after: 2 } },
  {
    match: { text: 'cached' },
    reply: { text: 'fine', usage: { input_tokens: 10, output_tokens: 5, cache_read_tokens: 7 } },
  },
];

const CLIENTS = [
  ['1.x', Anthropic],
  ['0.x', Anthropic0 as unknown as typeof Anthropic],
] as const;

describe('Messages clients of providers that speak something else', () => {
  let mock: MockServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    mock = await startMockServer({ cassette: { rules: RULES } });
    gateway = await startGateway(providerPerProtocol(mock.url, PROTOCOLS));
  });
  beforeEach(() => mock.engine.clearCalls());
  afterAll(async () => {
    await gateway.stop();
    await mock.close();
  });

  const clients = () =>
    CLIENTS.map(
      ([name, Client]) =>
        [
          name,
          new Client({ baseURL: gateway.url, apiKey: gateway.clientKey, maxRetries: 0 }),
        ] as const,
    );
  const asking = (model: string, content: string) => ({
    model,
    max_tokens: 64,
    messages: [{ role: 'user' as const, content }],
  });
  const post = (body: object) => gateway.call('POST', '/v1/messages', { body });
  const sent = () => JSON.parse(mock.engine.calls().at(-1)?.body.toString() ?? '');

  describe.each(PROTOCOLS)('%s', (protocol) => {
    const model = `acme/${protocol}`;

    it(
      verifies(
        'routing.translation.pairs',
        'routing.response-model-logical',
        'answers official clients, under the logical name',
      ),
      async () => {
        for (const [name, client] of clients()) {
          const message = await client.messages.create(asking(model, 'hello'));
          expect(message, name).toMatchObject({
            type: 'message',
            role: 'assistant',
            model,
            content: [{ type: 'text', text: 'You said: hello' }],
            stop_reason: 'end_turn',
          });
          expect(message.usage.input_tokens).toBeGreaterThan(0);
          expect(message.usage.output_tokens).toBeGreaterThan(0);
        }
      },
    );

    it(
      verifies(
        'messages.stream.order',
        'routing.translation.pairs',
        'streams calls in the order of the protocol, as the official helper wants them',
      ),
      async () => {
        for (const [name, client] of clients()) {
          const stream = client.messages.stream({ ...asking(model, 'three'), tools: TOOLS });
          const types: string[] = [];
          const indexes: number[] = [];
          stream.on('streamEvent', (event) => {
            types.push(event.type);
            if (event.type === 'content_block_start') indexes.push(event.index);
          });
          const message = await stream.finalMessage();
          expect(message, name).toMatchObject({
            model,
            stop_reason: 'tool_use',
            content: [
              { type: 'text', text: 'Let me see.' },
              ...CALLS.map((call) => ({ type: 'tool_use', name: call.name })),
            ],
          });
          expect(message.usage.output_tokens).toBeGreaterThan(0);
          expect(indexes).toEqual([0, 1, 2, 3]);
          const order = types.join(' ').replaceAll(/(content_block_delta )+/g, 'delta ');
          const block = 'content_block_start delta content_block_stop ';
          expect(order).toBe(`message_start ${block.repeat(4)}message_delta message_stop`);
        }
      },
    );

    it(
      verifies('routing.translation.pairs', 'carries a whole round of tool use, spelled as it was'),
      async () => {
        for (const [, client] of clients()) {
          const asked = { ...asking(model, 'three'), tools: TOOLS };
          const message = await client.messages.create(asked);
          const calls = message.content.filter((block) => block.type === 'tool_use');
          expect(calls.map(({ input }) => (input as { city: string }).city)).toEqual([
            'Oslo',
            'Bergen',
            'Tromsø',
          ]);
          const results = calls.map(({ id }, index) => ({
            type: 'tool_result' as const,
            tool_use_id: id,
            content: `rain ${index}`,
            is_error: index === 1,
          }));
          const next = await client.messages.create({
            ...asked,
            messages: [
              ...asked.messages,
              { role: 'assistant', content: message.content },
              { role: 'user', content: [...results, { type: 'text', text: 'and so?' }] },
            ],
          });
          expect(next.content[0]).toMatchObject({ type: 'text' });
          const request = JSON.stringify(sent());
          for (const text of ['rain 0', 'rain 1', 'rain 2', 'and so?', 'Tromsø'])
            expect(request).toContain(text);
        }
      },
    );

    it('shows reasoning as thinking, streamed or not', async () => {
      for (const [, client] of clients()) {
        const asked = { ...asking(model, 'think'), max_tokens: 4096 };
        const thinking = { type: 'enabled' as const, budget_tokens: 2048 };
        const whole = await client.messages.create({ ...asked, thinking });
        const streamed = await client.messages.stream({ ...asked, thinking }).finalMessage();
        for (const { content } of [whole, streamed])
          expect(content).toMatchObject([
            { type: 'thinking', thinking: 'because' },
            { type: 'text', text: 'so' },
          ]);
      }
    });

    it.each([
      { text: 'hello', reason: 'end_turn' },
      { text: 'long', reason: 'max_tokens' },
      { text: 'three', reason: 'tool_use' },
      { text: 'odd', reason: 'end_turn' },
    ])(
      verifies('messages.stop-reason.mapping', 'stops "$text" with $reason'),
      async ({ text, reason }) => {
        const whole = await post({ ...asking(model, text), tools: TOOLS });
        expect(whole.body.stop_reason).toBe(reason);
        const streamed = await post({ ...asking(model, text), tools: TOOLS, stream: true });
        const events = messagesEvents(streamed.body);
        expect(events.at(-2)?.delta).toMatchObject({ stop_reason: reason });
        expect(events.at(-1)).toEqual({ type: 'message_stop' });
      },
    );

    it('tells cached tokens apart, streamed or not', async () => {
      const whole = await post(asking(model, 'cached'));
      const streamed = await post({ ...asking(model, 'cached'), stream: true });
      const last = messagesEvents(streamed.body).at(-2);
      for (const usage of [whole.body.usage, last?.usage])
        expect(usage).toMatchObject({
          input_tokens: 10,
          cache_read_input_tokens: 7,
          output_tokens: 5,
        });
    });

    it(
      verifies(
        'messages.stream.error-in-band',
        'ends a stream that breaks off with an error and no stop',
      ),
      async () => {
        const { status, body } = await post({ ...asking(model, 'break'), stream: true });
        expect(status).toBe(200);
        const types = messagesEvents(body).map(({ type }) => type);
        expect(types.at(-1)).toBe('error');
        expect(types).not.toContain('message_stop');
      },
    );

    it(
      verifies('messages.request.role-system', 'folds system messages into the system prompt'),
      async () => {
        const messages = [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'two' },
          { role: 'system', content: 'be brief' },
          { role: 'user', content: 'hello' },
        ];
        const answer = await post({ ...asking(model, ''), messages });
        expect(answer.status).toBe(200);
        const request = JSON.stringify(sent());
        expect(request).toContain('be brief');
        expect(request).not.toContain('"role":"user","content":"be brief"');
      },
    );

    it('names what it could not carry over', async () => {
      const { headers } = await post({
        ...asking(model, 'hello'),
        container: 'c1',
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      });
      const dropped = (headers.get('x-gateway-dropped-fields') ?? '').split(',');
      expect(dropped).toContain('container');
      expect(dropped).toContainEqual(expect.stringMatching(/^tools\[0\]\.web_search/));
    });
  });

  it(
    verifies('messages.stop-reason.mapping', 'tells what a provider filtered as a refusal'),
    async () => {
      for (const protocol of ['chat', 'responses'] as const) {
        const { body } = await post(asking(`acme/${protocol}`, 'filtered'));
        expect([protocol, body.stop_reason]).toEqual([protocol, 'refusal']);
      }
    },
  );

  it(
    verifies('messages.stream.tool-fragments', 'gives a call without arguments an empty object'),
    async () => {
      for (const protocol of PROTOCOLS) {
        const asked = { ...asking(`acme/${protocol}`, 'bare'), tools: TOOLS };
        const whole = await post(asked);
        expect(whole.body.content).toMatchObject([{ type: 'tool_use', input: {} }]);
        const [, client] = clients()[0] as ReturnType<typeof clients>[number];
        const streamed = await client.messages.stream(asked).finalMessage();
        expect(streamed.content).toMatchObject([{ type: 'tool_use', input: {} }]);
      }
    },
  );
});

describe('Messages clients of a chat provider', () => {
  let upstream: Upstream;
  let gateway: TestGateway;
  let client: Anthropic;
  let frames: string[];
  let whole: object;
  beforeAll(async () => {
    upstream = await startUpstream((response, { body }) => {
      if (!(JSON.parse(body.toString()) as { stream?: boolean }).stream)
        return sendJson(response, 200, whole);
      beginEvents(response);
      response.end(`${frames.join('')}data: [DONE]\n\n`);
    });
    gateway = await startGateway({
      providers: [
        { name: 'chat', type: 'custom', base_url: `${upstream.url}/v1`, auth: { type: 'none' } },
      ],
      models: [{ name: 'acme/chat', routes: [{ provider: 'chat', upstream_model: 'up' }] }],
    });
    client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.clientKey, maxRetries: 0 });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const asked = {
    model: 'acme/chat',
    max_tokens: 64,
    messages: [{ role: 'user' as const, content: 'hi' }],
    tools: TOOLS,
  };
  const call = (index: number, rest: object) => chunk({ tool_calls: [{ index, ...rest }] });

  it(
    verifies(
      'messages.stream.tool-fragments',
      'put interleaved fragments into blocks of their own',
    ),
    async () => {
      frames = [
        call(0, { id: 'a', type: 'function', function: { name: 'look_0', arguments: '' } }),
        call(0, { function: { arguments: '{"city":' } }),
        call(1, { id: 'b', type: 'function', function: { name: 'look_1', arguments: '{"ci' } }),
        call(0, { function: { arguments: '"Oslo"}' } }),
        call(1, { function: { arguments: 'ty":"Bergen"}' } }),
        call(2, {
          id: 'c',
          type: 'function',
          function: { name: 'look_2', arguments: '{"a":1.0}' },
        }),
        chunk({}, 'tool_calls'),
      ];
      const { body } = await gateway.call('POST', '/v1/messages', {
        body: { ...asked, stream: true },
      });
      const events = messagesEvents(body);
      const starts = events.filter(({ type }) => type === 'content_block_start');
      expect(starts.map(({ content_block }) => content_block)).toEqual([
        { type: 'tool_use', id: 'a', name: 'look_0', input: {} },
        { type: 'tool_use', id: 'b', name: 'look_1', input: {} },
        { type: 'tool_use', id: 'c', name: 'look_2', input: {} },
      ]);
      const joined = [0, 1, 2].map((index) =>
        events
          .filter((event) => event.index === index && event.delta?.['type'] === 'input_json_delta')
          .map(({ delta }) => delta?.['partial_json'])
          .join(''),
      );
      expect(joined).toEqual(['{"city":"Oslo"}', '{"city":"Bergen"}', '{"a":1.0}']);
      const message = await client.messages.stream(asked).finalMessage();
      expect(message.content).toMatchObject([
        { id: 'a', input: { city: 'Oslo' } },
        { id: 'b', input: { city: 'Bergen' } },
        { id: 'c', input: { a: 1 } },
      ]);
    },
  );

  it(
    verifies('messages.thinking.round-trip', 'hand its reasoning back as it was signed'),
    async () => {
      const details = [
        { type: 'reasoning.text', text: 'step one', signature: 'c2lnbmVk', index: 0 },
        { type: 'reasoning.encrypted', data: 'b3BhcXVl', index: 1 },
      ];
      const tool = {
        id: 'a',
        type: 'function',
        function: { name: 'look_0', arguments: '{"city":"Oslo"}' },
      };
      whole = {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'up',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: null,
              reasoning_details: details,
              tool_calls: [tool],
            },
            finish_reason: 'tool_calls',
          },
        ],
      };
      frames = [
        ...details.map((one) => chunk({ reasoning_details: [one] })),
        chunk({ tool_calls: [{ index: 0, ...tool }] }),
        chunk({}, 'tool_calls'),
      ];
      const answers = [
        await client.messages.create(asked),
        await client.messages.stream(asked).finalMessage(),
      ];
      for (const { content } of answers) {
        expect(content.at(-1)).toMatchObject({ type: 'tool_use', id: 'a' });
        await client.messages.create({
          ...asked,
          messages: [
            ...asked.messages,
            { role: 'assistant', content },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'rain' }] },
          ],
        });
        const { messages } = JSON.parse(upstream.seen.at(-1)?.body.toString() ?? '');
        const [, assistant] = messages as { reasoning_details: Record<string, unknown>[] }[];
        expect(
          assistant?.reasoning_details.map(({ type, text, signature, data }) => ({
            type,
            ...(text !== undefined && { text }),
            ...(signature !== undefined && { signature }),
            ...(data !== undefined && { data }),
          })),
        ).toEqual(details.map(({ index: _index, ...rest }) => rest));
      }
    },
  );
});

describe('thinking of a Messages provider', () => {
  const THINKING = [
    { type: 'thinking', thinking: 'step one', signature: 'RXFRQmFzZTY0Kw==' },
    { type: 'redacted_thinking', data: 'RW13S2RhdGE=' },
    { type: 'thinking', thinking: '', signature: 'b21pdHRlZA==' },
  ];
  const CALL = { type: 'tool_use', id: 'toolu_1', name: 'look_0', input: { city: 'Oslo' } };
  let upstream: Upstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'up',
      content: [...THINKING, CALL],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 9 },
    };
    upstream = await startUpstream((response, { body }) => {
      if (!(JSON.parse(body.toString()) as { stream?: boolean }).stream)
        return sendJson(response, 200, message);
      beginEvents(response);
      const events = [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
        ...[...THINKING, CALL].flatMap(blockEvents),
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
        { type: 'message_stop' },
      ];
      response.end(
        events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(''),
      );
    });
    gateway = await startGateway({
      providers: [
        {
          name: 'messages',
          type: 'custom',
          base_url: `${upstream.url}/v1`,
          auth: { type: 'none' },
          protocols: { messages: true },
        },
      ],
      models: [{ name: 'acme/one', routes: [{ provider: 'messages', upstream_model: 'up' }] }],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const lastAssistant = (): unknown => {
    const { messages } = JSON.parse(upstream.seen.at(-1)?.body.toString() ?? '');
    return (messages as { role: string; content: unknown }[]).find(
      ({ role }) => role === 'assistant',
    )?.content;
  };

  it(
    verifies('messages.thinking.round-trip', 'comes back from clients of its own protocol'),
    async () => {
      for (const [, Client] of CLIENTS) {
        const client = new Client({ baseURL: gateway.url, apiKey: gateway.clientKey });
        const asked = {
          model: 'acme/one',
          max_tokens: 4096,
          messages: [{ role: 'user' as const, content: 'hi' }],
          tools: TOOLS,
        };
        const answers = [
          await client.messages.create(asked),
          await client.messages.stream(asked).finalMessage(),
        ];
        for (const { content } of answers) {
          await client.messages.create({
            ...asked,
            messages: [
              ...asked.messages,
              { role: 'assistant', content },
              {
                role: 'user',
                content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain' }],
              },
            ],
          });
          expect(lastAssistant()).toEqual([...THINKING, CALL]);
        }
      }
    },
  );

  it.each([false, true])(
    verifies('messages.thinking.round-trip', 'comes back from Responses clients: stream %s'),
    async (stream) => {
      const ask = (input: unknown[]) =>
        gateway.call('POST', '/v1/responses', {
          body: { model: 'acme/one', input, stream, max_output_tokens: 4096 },
        });
      const user = { role: 'user', content: 'hi' };
      const answer = await ask([user]);
      const output = stream ? lastResponse(answer.body).output : answer.body.output;
      await ask([
        user,
        ...(output as object[]),
        { type: 'function_call_output', call_id: 'toolu_1', output: 'rain' },
      ]);
      expect(lastAssistant()).toEqual([...THINKING, CALL]);
    },
  );
});

/** The events of one block that is known whole. */
function blockEvents(block: Record<string, unknown>, index: number): { type: string }[] {
  const delta = (one: object) => ({ type: 'content_block_delta', index, delta: one });
  const { thinking, signature, input } = block;
  const deltas = [
    ...(thinking ? [delta({ type: 'thinking_delta', thinking })] : []),
    ...(signature ? [delta({ type: 'signature_delta', signature })] : []),
    ...(input ? [delta({ type: 'input_json_delta', partial_json: JSON.stringify(input) })] : []),
  ];
  const start = {
    ...block,
    ...(thinking !== undefined && { thinking: '', signature: '' }),
    ...(input !== undefined && { input: {} }),
  };
  return [
    { type: 'content_block_start', index, content_block: start } as { type: string },
    ...deltas,
    { type: 'content_block_stop', index } as { type: string },
  ];
}

function lastResponse(text: string): { output?: unknown } {
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as { type: string; response?: object });
  return events.find(({ type }) => type === 'response.completed')?.response ?? {};
}

describe('an independent provider', () => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', latency: 0 });
  let gateway: TestGateway;
  beforeAll(async () => {
    mock.addFixturesFromJSON([
      {
        match: { userMessage: 'weather' },
        response: {
          toolCalls: [
            { name: 'look_0', arguments: '{"city":"Oslo"}' },
            { name: 'look_1', arguments: '{"city":"Bergen"}' },
          ],
        },
      },
      { match: { userMessage: 'hello' }, response: { content: 'Hi from elsewhere.' } },
    ]);
    await mock.start();
    const provider = (protocol: string, path: string) => ({
      name: protocol,
      type: 'custom',
      base_url: `${mock.url}${path}`,
      auth: { type: 'none' },
      protocols: { [protocol]: true },
    });
    gateway = await startGateway({
      providers: [
        provider('messages', '/v1'),
        provider('chat', '/v1'),
        provider('responses', '/v1'),
        provider('generate-content', '/v1beta'),
      ],
      models: ['messages', 'chat', 'responses', 'generate-content'].map((name) => ({
        name: `acme/${name}`,
        routes: [{ provider: name, upstream_model: 'up' }],
      })),
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await mock.stop();
  });

  /** Reasoning that is only there to be handed back says nothing. */
  const said = (content: Anthropic.ContentBlock[]) =>
    content.filter(({ type }) => type !== 'thinking');

  it.each(['messages', 'chat', 'responses', 'generate-content'])(
    'answers both clients with texts and calls over %s',
    async (name) => {
      for (const [, Client] of CLIENTS) {
        const client = new Client({ baseURL: gateway.url, apiKey: gateway.clientKey });
        const ask = (content: string) => ({
          model: `acme/${name}`,
          max_tokens: 64,
          messages: [{ role: 'user' as const, content }],
          tools: TOOLS,
        });
        const answers = async (content: string) => [
          await client.messages.create(ask(content)),
          await client.messages.stream(ask(content)).finalMessage(),
        ];
        for (const { content, stop_reason } of await answers('hello')) {
          expect(said(content)).toMatchObject([{ type: 'text', text: 'Hi from elsewhere.' }]);
          expect(stop_reason).toBe('end_turn');
        }
        for (const { content, stop_reason } of await answers('weather')) {
          expect(said(content)).toMatchObject([
            { type: 'tool_use', name: 'look_0', input: { city: 'Oslo' } },
            { type: 'tool_use', name: 'look_1', input: { city: 'Bergen' } },
          ]);
          expect(stop_reason).toBe('tool_use');
        }
      }
    },
  );
});
