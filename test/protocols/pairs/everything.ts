import type { Recorded } from '../../fixtures/wire/recorded.ts';

const PNG = 'iVBORw0KGgo=';
const SCHEMA = { type: 'object', properties: {} };

/** A request with everything that some other protocol cannot say. */
export const EVERYTHING: Readonly<Record<Recorded, object>> = {
  chat: {
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
  },
  responses: {
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
  },
  messages: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'read', cache_control: { type: 'ephemeral' } },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
        ],
      },
      { role: 'system', content: 'be brief' },
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
  },
  'generate-content': {
    systemInstruction: { parts: [{ text: 'be brief' }] },
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'hello' },
          { inlineData: { mimeType: 'image/tiff', data: 'SUkqAA==' } },
          { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/cat.jpg' } },
        ],
      },
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
  },
};
