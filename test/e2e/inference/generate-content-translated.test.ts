import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw } from '../../support/raw-client.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { SeenRequest, Upstream } from '../../support/stage/upstream.ts';

const PROTOCOLS = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
} as const;

const WEATHER = { name: 'get_weather', parametersJsonSchema: { type: 'object', properties: {} } };
const CALL = { name: 'get_weather', args: {} };

describe('a translated mapping of generate-content', () => {
  let mock: MockServer;
  let upstream: Upstream;
  let gateway: TestGateway;
  let answer: (request: SeenRequest) => readonly object[];
  beforeAll(async () => {
    mock = await startMockServer();
    upstream = await startUpstream((response, request) => {
      const elements = answer(request);
      if (!request.url.includes('alt=sse') && !/"stream":true/.test(request.body.toString()))
        return sendJson(response, 200, elements[0]);
      beginEvents(response);
      const named = (one: object): string => ('type' in one ? `event: ${String(one.type)}\n` : '');
      response.end(elements.map((one) => `${named(one)}data: ${JSON.stringify(one)}\n\n`).join(''));
      return undefined;
    });
    const provider = (name: string, protocols: object, url: string): object => ({
      name,
      type: 'custom',
      base_url: url,
      auth: { type: 'none' },
      protocols,
    });
    const model = (name: string, to: string): object => ({
      name: `acme/${name}`,
      routes: [{ provider: to, upstream_model: 'up', mapping: 'translated' }],
    });
    gateway = await startGateway({
      providers: [
        ...Object.entries(PROTOCOLS).map(([name, path]) =>
          provider(name, { [name]: { path } }, mock.url),
        ),
        provider('thinker', { messages: { path: '/v1/messages' } }, upstream.url),
        provider(
          'gem',
          { 'generate-content': { path: '/v1beta/models/{model}:{method}' } },
          upstream.url,
        ),
      ],
      models: [...Object.keys(PROTOCOLS), 'thinker', 'gem'].map((name) => model(name, name)),
    });
  });
  beforeEach(() => {
    upstream.seen.length = 0;
  });
  afterAll(async () => {
    await gateway.stop();
    await mock.close();
    await upstream.close();
  });

  const ask = (model: string, body: object) =>
    askRaw(`${gateway.url}/v1beta/models/${model}:generateContent`, {
      key: gateway.clientKey,
      body: JSON.stringify(body),
    });
  const json = (raw: { body: Buffer }): any => JSON.parse(raw.body.toString('utf8'));

  it.each(Object.keys(PROTOCOLS))(
    verifies(
      'gencontent.translated.supported',
      'carries texts, calls, results and pictures to %s and the answer back',
    ),
    async (model) => {
      const contents = [
        {
          role: 'user',
          parts: [
            { text: 'look at these' },
            { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
            { inlineData: { mimeType: 'image/tiff', data: 'SUkqAA==' } },
            { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/cat.jpg' } },
          ],
        },
        { role: 'model', parts: [{ functionCall: CALL }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'get_weather', response: { sky: 'blue' } } }],
        },
        { role: 'user', parts: [{ text: 'hello' }] },
      ];
      const systemInstruction = { parts: [{ text: 'be brief' }] };
      const tools = [{ functionDeclarations: [WEATHER] }];
      const got = await ask(model, { contents, systemInstruction, tools });
      expect(got.status, got.body.toString()).toBe(200);
      expect(json(got)).toMatchObject({
        candidates: [
          {
            content: { role: 'model', parts: [{ text: 'You said: hello' }] },
            finishReason: 'STOP',
          },
        ],
        modelVersion: `acme/${model}`,
      });
      const sent = mock.engine.calls().at(-1)?.body.toString('utf8') ?? '';
      for (const one of [
        'look at these',
        'iVBORw0KGgo=',
        'SUkqAA==',
        'image/tiff',
        'https://example.com/cat.jpg',
        'be brief',
        'get_weather',
        'blue',
      ])
        expect([one, sent.includes(one)]).toEqual([one, true]);
    },
  );

  it.each(Object.keys(PROTOCOLS))(
    verifies('gencontent.translated.rejects', 'refuses what %s would not be told, and asks nobody'),
    async (model) => {
      const parts = (part: object): object => ({ contents: [{ parts: [part] }] });
      const file = (fileUri: string): object =>
        parts({ fileData: { mimeType: 'image/png', fileUri } });
      const before = mock.engine.calls().length;
      const refused: Record<string, object> = {
        'inlineData.mimeType': parts({ inlineData: { mimeType: 'application/pdf', data: 'AA==' } }),
        'fileData.fileUri': file('gs://bucket/a.png'),
        'parts[0].fileData.fileUri': file(
          'https://generativelanguage.googleapis.com/v1beta/files/abc',
        ),
        candidateCount: { generationConfig: { candidateCount: 2 } },
        responseModalities: { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } },
      };
      for (const [field, body] of Object.entries(refused)) {
        const got = await ask(model, body);
        expect([field, got.status]).toEqual([field, 400]);
        expect(json(got).error.status).toBe('INVALID_ARGUMENT');
        expect(json(got).error.message).toContain(field);
      }
      expect(mock.engine.calls()).toHaveLength(before);
    },
  );

  it('names in a header what the provider did not get', async () => {
    const got = await ask('chat', {
      contents: [{ parts: [{ text: 'hello' }] }],
      safetySettings: [],
      generationConfig: { topK: 3, speechConfig: {} },
    });
    expect(String(got.headers['x-gateway-dropped-fields']).split(',').sort()).toEqual([
      'generationConfig.speechConfig',
      'generationConfig.topK',
      'safetySettings',
    ]);
  });

  it(
    verifies(
      'gencontent.thought-signature',
      'brings a signature back to the provider that made it, byte by byte',
    ),
    async () => {
      const signature = 'EqoB/+signature==';
      const thinking = { type: 'thinking', thinking: 'hm', signature };
      const use = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} };
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'up',
        content: [thinking, use],
        stop_reason: 'tool_use',
        usage,
      };
      const part = (one: object, rest: object = {}): object => ({
        candidates: [{ content: { role: 'model', parts: [one] }, ...rest }],
      });
      const block = (index: number, content_block: object, ...deltas: object[]): object[] => [
        { type: 'content_block_start', index, content_block },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ];
      const answers: Record<string, Record<string, readonly object[]>> = {
        gem: {
          whole: [
            {
              candidates: [
                {
                  content: {
                    role: 'model',
                    parts: [{ functionCall: CALL, thoughtSignature: signature }],
                  },
                  finishReason: 'STOP',
                },
              ],
            },
          ],
          streamed: [
            part({ text: '', thoughtSignature: signature }),
            part({ functionCall: CALL }, { finishReason: 'STOP' }),
          ],
        },
        thinker: {
          whole: [message],
          streamed: [
            { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
            ...block(
              0,
              { ...thinking, thinking: '', signature: '' },
              { type: 'thinking_delta', thinking: 'hm' },
              { type: 'signature_delta', signature },
            ),
            ...block(1, use, { type: 'input_json_delta', partial_json: '{}' }),
            { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage },
            { type: 'message_stop' },
          ],
        },
      };
      for (const [model, shapes] of Object.entries(answers))
        for (const [shape, elements] of Object.entries(shapes)) {
          answer = () => elements;
          const client = new GoogleGenAI({
            apiKey: gateway.clientKey,
            httpOptions: { baseUrl: gateway.url },
          });
          const config = { tools: [{ functionDeclarations: [WEATHER] }] };
          const chat = client.chats.create({ model, config });
          const send = async (message: never): Promise<void> => {
            if (shape === 'whole') await chat.sendMessage({ message });
            else for await (const chunk of await chat.sendMessageStream({ message })) void chunk;
          };
          await send('weather?' as never);
          const call = chat
            .getHistory()
            .flatMap(({ parts = [] }) => parts)
            .find(({ functionCall }) => functionCall)?.functionCall;
          const response = { id: call?.id, name: 'get_weather', response: { output: 'sun' } };
          await send([{ functionResponse: response }] as never);
          const sent = upstream.seen.at(-1)?.body.toString('utf8') ?? '';
          expect([model, shape, sent]).toEqual([
            model,
            shape,
            expect.stringContaining(`ignature":"${signature}"`),
          ]);
          if (model === 'thinker')
            expect(JSON.parse(sent).messages[1].content[0]).toEqual(thinking);
        }
    },
  );
});
