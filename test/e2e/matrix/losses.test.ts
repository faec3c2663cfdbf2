import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { ProviderId, Stage } from './stage.ts';

const PNG = 'iVBORw0KGgo=';
const SCHEMA = { type: 'object', properties: {} };

/** A request with everything that some other protocol cannot say. */
const EVERYTHING: Readonly<Record<ProviderId, (stream: boolean) => object>> = {
  chat: (stream) => ({
    stream,
    messages: [
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'hear', cache_control: { type: 'ephemeral' } },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
          {
            type: 'file',
            file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
          },
        ],
      },
    ],
    tools: [
      { type: 'function', function: { name: 'look', parameters: SCHEMA, strict: true } },
      { type: 'web_search' },
    ],
    parallel_tool_calls: false,
    temperature: 1.5,
    top_k: 5,
    n: 2,
    seed: 7,
    stop: ['HALT'],
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    logprobs: true,
    logit_bias: { 50256: -100 },
    verbosity: 'low',
    metadata: { a: 'b' },
    user: 'u-1',
    service_tier: 'flex',
    prompt_cache_key: 'k',
    vendor_field: true,
  }),
  responses: (stream) => ({
    stream,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'low' },
          { type: 'input_file', filename: 'a.pdf', file_url: 'https://example.com/a.pdf' },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [{ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }],
      },
    ],
    tools: [
      { type: 'function', name: 'look', parameters: SCHEMA, strict: true },
      { type: 'web_search' },
    ],
    parallel_tool_calls: false,
    temperature: 1.5,
    top_logprobs: 2,
    text: { verbosity: 'low', format: { type: 'json_object' } },
    metadata: { a: 'b' },
    user: 'u-1',
    service_tier: 'flex',
    truncation: 'auto',
    max_tool_calls: 3,
    prompt_cache_key: 'k',
    vendor_field: true,
  }),
  messages: (stream) => ({
    stream,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'read', cache_control: { type: 'ephemeral' } },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            is_error: true,
            content: [
              { type: 'text', text: 'see' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            ],
          },
        ],
      },
    ],
    tools: [
      { name: 'look', input_schema: SCHEMA, strict: true },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    top_k: 5,
    stop_sequences: ['HALT'],
    metadata: { user_id: 'u-1' },
    service_tier: 'auto',
    container: 'box',
    mcp_servers: [],
    vendor_field: true,
  }),
  'generate-content': () => ({
    contents: [
      { role: 'user', parts: [{ text: 'hello' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: {} } }] },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'c1',
              name: 'look',
              response: { error: 'no' },
              parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }],
            },
          },
        ],
      },
    ],
    tools: [{ functionDeclarations: [{ name: 'look' }] }, { googleSearch: {} }],
    safetySettings: [],
    labels: { a: 'b' },
    generationConfig: {
      temperature: 1.5,
      topK: 5,
      seed: 7,
      stopSequences: ['HALT'],
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      responseLogprobs: true,
      logprobs: 2,
      responseMimeType: 'application/json',
      speechConfig: {},
    },
  }),
};

/** Fields that no other protocol has. */
const OWN: Readonly<Record<ProviderId, readonly string[]>> = {
  chat: ['logit_bias', 'n', 'prompt_cache_key', 'vendor_field', 'tools[1].web_search', 'name'],
  responses: [
    'max_tool_calls',
    'prompt_cache_key',
    'truncation',
    'vendor_field',
    'tools[1].web_search',
  ],
  messages: ['container', 'mcp_servers', 'vendor_field', 'tools[1].web_search_20250305'],
  'generate-content': [
    'generationConfig.speechConfig',
    'labels',
    'safetySettings',
    'tools[1].googleSearch',
  ],
};

/** What beside them a client's request loses on its way to a provider. */
const LOST: Readonly<Record<ProviderId, Readonly<Partial<Record<ProviderId, readonly string[]>>>>> =
  {
    chat: {
      responses: [
        'cache_control',
        'frequency_penalty',
        'input_audio',
        'presence_penalty',
        'seed',
        'stop',
        'top_k',
      ],
      messages: [
        'frequency_penalty',
        'image_url.detail',
        'input_audio',
        'logprobs',
        'metadata',
        'presence_penalty',
        'seed',
        'temperature',
        'verbosity',
      ],
      'generate-content': [
        'cache_control',
        'file.filename',
        'image_url.detail',
        'metadata',
        'parallel_tool_calls',
        'service_tier',
        'strict',
        'user',
        'verbosity',
      ],
    },
    responses: {
      chat: [
        'function_call_output.output',
        'input_file.file_url',
        'input_file.filename',
        'metadata',
      ],
      messages: [
        'input_image.detail',
        'metadata',
        'temperature',
        'text.format',
        'text.verbosity',
        'top_logprobs',
      ],
      'generate-content': [
        'input_file.filename',
        'input_image.detail',
        'metadata',
        'parallel_tool_calls',
        'service_tier',
        'text.verbosity',
        'tools.strict',
        'user',
      ],
    },
    messages: {
      chat: [
        'messages.content.cache_control',
        'messages.content.document.source.url',
        'messages.content.tool_result.content.image',
        'messages.content.tool_result.is_error',
        'top_k',
      ],
      responses: [
        'messages.content.cache_control',
        'messages.content.tool_result.is_error',
        'stop_sequences',
        'top_k',
      ],
      'generate-content': [
        'messages.content.cache_control',
        'metadata.user_id',
        'service_tier',
        'tool_choice.disable_parallel_tool_use',
        'tools.strict',
      ],
    },
    'generate-content': {
      chat: ['functionResponse.parts', 'functionResponse.response.error', 'generationConfig.topK'],
      responses: [
        'functionResponse.response.error',
        'generationConfig.frequencyPenalty',
        'generationConfig.presencePenalty',
        'generationConfig.seed',
        'generationConfig.stopSequences',
        'generationConfig.topK',
      ],
      messages: [
        'generationConfig.frequencyPenalty',
        'generationConfig.logprobs',
        'generationConfig.presencePenalty',
        'generationConfig.responseMimeType',
        'generationConfig.seed',
        'generationConfig.temperature',
      ],
    },
  };

describe('what cannot be carried over', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  const pairs = pairsOf(CLIENTS);

  it.each(pairs.filter(({ isNative }) => !isNative))(
    verifies(
      'routing.translation.pairs',
      'chat.request.translated-fields',
      'routing.response-model-logical',
      `is named in the client's words, in a header and in the record: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream }) => {
      const own = client.id as ProviderId;
      stage.play(PROVIDERS[provider].said('fine'));
      const model = `acme/${provider}`;
      const { path } = stream ? client.streamed(model) : client.request(model);
      const { body } = client.request(model, EVERYTHING[own](stream));
      const answer = await stage.gateway.call('POST', path, { body });
      expect(answer.status).toBe(200);
      const dropped = answer.headers.get('x-gateway-dropped-fields')?.split(',').toSorted();
      const expected = [...OWN[own], ...(LOST[own][provider] ?? [])].toSorted();
      expect(dropped).toEqual(expected);
      const record = await stage.record();
      expect(record.losses.toSorted()).toEqual(expected);
      expect(record.model).toBe(model);
      const told = JSON.stringify(answer.body);
      expect(told).toContain(model);
      expect(told).not.toMatch(/(?:model|modelVersion)\\?":\s*\\?"up\\?"/);
      for (const one of ['vendor_field', '50256', 'web_search', 'googleSearch', 'speechConfig'])
        expect(stage.sent().text).not.toContain(one);
    },
  );

  it.each(pairs.filter(({ isNative }) => isNative))(
    `is nothing where nothing is translated: ${PAIR_TITLE}`,
    async ({ client, provider, stream }) => {
      stage.play(PROVIDERS[provider].said('fine'));
      const model = `acme/${provider}`;
      const { path } = stream ? client.streamed(model) : client.request(model);
      const { body } = client.request(model, EVERYTHING[provider](stream));
      const answer = await stage.gateway.call('POST', path, { body });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-gateway-dropped-fields')).toBeNull();
      expect((await stage.record()).losses).toEqual([]);
    },
  );

  const silent = pairs.filter(
    ({ client, provider, isNative }) =>
      !isNative && client.id === 'messages' && PROVIDERS[provider].weighed,
  );
  it.each(silent)(
    verifies(
      'routing.translation.pairs',
      `is in the record also where the answer held it: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream }) => {
      const { weighed } = PROVIDERS[provider];
      if (weighed) stage.play(weighed);
      const said = await client.open(stage.target(provider), { text: 'go' }).ask(stream);
      expect(said.text).toBe('yes!');
      expect((await stage.record()).losses).toEqual(['logprobs']);
    },
  );
});
