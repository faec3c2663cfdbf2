import { toMockRequest } from '../../../../src/providers/mock/mock-request.ts';
import { toMockRoute } from '../../../../src/providers/mock/mock-route.ts';
import { STRICT, refusalBy } from '../../../../src/providers/mock/strict/strict-vendors.ts';
import type { StrictVendor } from '../../../../src/providers/mock/strict/strict-vendors.ts';

const PATHS: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  'generate-content': '/v1beta/models/MODEL:generateContent',
};

export interface Body {
  readonly model?: string;
  readonly [member: string]: unknown;
}

/** What a vendor says of a body in its first protocol, or in another one. */
export function refusal(
  vendor: StrictVendor,
  { model = 'any', ...body }: Body,
  protocol: string = STRICT[vendor].protocols[0].protocol,
): string | undefined {
  const path = PATHS[protocol]!.replace('MODEL', model);
  const bytes = Buffer.from(JSON.stringify({ model, max_tokens: 2_000, ...body }));
  const http = { method: 'POST', path, headers: {}, body: bytes };
  const request = toMockRequest(http, toMockRoute('POST', path)!);
  if ('invalid' in request) throw new Error(request.invalid);
  return refusalBy(vendor, request);
}

export const user = { role: 'user', content: 'hi' };
export const tool = (name: string) => ({ type: 'function', function: { name } });
const call = (id: string, name = 'f') => ({
  id,
  type: 'function',
  function: { name, arguments: '{}' },
});
export const calls = (...ids: string[]) => ({
  role: 'assistant',
  tool_calls: ids.map((id) => call(id)),
});
export const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'r' });
const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
export const used = (...ids: string[]) => ({ role: 'assistant', content: ids.map(use) });
export const told = (...ids: string[]) => ({
  role: 'user',
  content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'r' })),
});
const item = (call_id: string) => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' });
const output = (call_id: string) => ({ type: 'function_call_output', call_id, output: 'r' });
export const part = (name: string, more: object = {}) => ({
  functionCall: { name, args: {} },
  ...more,
});
export const reply = (name: string) => ({ functionResponse: { name, response: {} } });
export const say = { role: 'user', parts: [{ text: 'hi' }] };
const long = 'n'.repeat(65);

export type Case = [vendor: StrictVendor, words: RegExp, body: Body, protocol?: string];

/** Requests that vendors refuse, with words of the refusal. */
export const REFUSED: Case[] = [
  ['openai', /'tools\[0\]\.function\.name': string too long.*64.*65/, { tools: [tool(long)] }],
  ['openai', /'tools\[0\]\.function\.name': string does not match/, { tools: [tool('a.b')] }],
  ['openai', /followed by tool messages.*: b$/, { messages: [calls('a', 'b'), result('a')] }],
  ['openai', /must be a response to a preceeding/, { messages: [user, result('a')] }],
  ['openai', /tool_calls\[0\]\.id': string too long/, { messages: [calls('i'.repeat(41))] }],
  [
    'openai',
    /'g' is not in 'tools'/,
    { tools: [tool('f')], tool_choice: { type: 'function', function: { name: 'g' } } },
  ],
  ['openai', /only allowed when 'tools'/, { tool_choice: 'auto' }],
  ['openai', /'temperature' does not support 0/, { model: 'o3', temperature: 0 }],
  ['openai', /max_completion_tokens/, { model: 'gpt-5-mini' }],
  [
    'openai',
    /gpt-5\.4 in \/v1\/chat\/completions.*use \/v1\/responses/,
    { model: 'gpt-5.4', tools: [tool('f')], reasoning_effort: 'low' },
  ],
  ['openai', /use \/v1\/responses/, { model: 'gpt-5.6-terra', tools: [tool('f')] }],
  [
    'openai',
    /does not support 'none'.*are: 'low', 'medium', 'high', 'xhigh', 'max'\./,
    { model: 'gpt-6-astra', reasoning_effort: 'none' },
  ],
  ['openai', /'max'.*'xhigh'\./, { model: 'gpt-6.1-sol', reasoning_effort: 'max' }],
  [
    'openai',
    /'reasoning\.effort' does not support 'none'/,
    { model: 'gpt-6.1-sol', reasoning: { effort: 'none' } },
    'responses',
  ],
  ['openai', /'temperature' does not support 0/, { model: 'gpt-6-luna', temperature: 0 }],
  ['openai', /array too long.*4.*5/, { stop: ['a', 'b', 'c', 'd', 'e'] }],
  ['openai', /No tool output found.* a\./, { input: [item('a')] }, 'responses'],
  ['openai', /No tool call found.* a\./, { input: [output('a')] }, 'responses'],
  ['openai', /Duplicate/, { input: [item('a'), output('a'), item('a'), output('a')] }, 'responses'],
  ['openai', />= 16, but got 15/, { max_output_tokens: 15 }, 'responses'],
  ['anthropic', /tools\.0\.name: String should match/, { tools: [{ name: 'a.b' }] }],
  ['anthropic', /first message must use the "user"/, { messages: [used('a'), told('a')] }],
  ['anthropic', /immediately after: b/, { messages: [user, used('a', 'b'), told('a')] }],
  ['anthropic', /unexpected `tool_use_id`.*: a\./, { messages: [user, told('a')] }],
  [
    'anthropic',
    /ids must be unique/,
    { messages: [user, used('a'), told('a'), used('a'), told('a')] },
  ],
  ['anthropic', /non-empty content/, { messages: [{ ...user, content: '' }] }],
  [
    'anthropic',
    /non-whitespace/,
    { messages: [{ ...user, content: [{ type: 'text', text: ' ' }] }] },
  ],
  [
    'anthropic',
    /does not support assistant message prefill/,
    { model: 'claude-opus-4-6', messages: [user, { role: 'assistant', content: 'a' }] },
  ],
  [
    'anthropic',
    /trailing whitespace/,
    { model: 'claude-haiku-4-5', messages: [user, { role: 'assistant', content: 'a ' }] },
  ],
  ['anthropic', /greater than or equal to 1024/, { thinking: { budget_tokens: 100 } }],
  [
    'anthropic',
    /`max_tokens` must be greater/,
    { thinking: { type: 'enabled', budget_tokens: 2_000 } },
  ],
  ['anthropic', /only be set to 1/, { thinking: { type: 'adaptive' }, temperature: 0 }],
  [
    'anthropic',
    /forces tool use/,
    { thinking: { type: 'adaptive' }, tool_choice: { type: 'any' } },
  ],
  [
    'anthropic',
    /found `tool_use`/,
    {
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      messages: [user, used('a'), told('a')],
    },
  ],
  ['anthropic', /'g' not found/, { tool_choice: { type: 'tool', name: 'g' } }],
  [
    'anthropic',
    /maximum of 4 blocks.*Found 5/,
    {
      system: Array.from({ length: 5 }, () => ({
        type: 'text',
        text: 'a',
        cache_control: { type: 'ephemeral' },
      })),
    },
  ],
  ['anthropic', /`top_k` is deprecated/, { model: 'claude-opus-4-8', top_k: 1 }],
  [
    'anthropic',
    /thinking\.type\.adaptive/,
    { model: 'claude-sonnet-5', thinking: { type: 'enabled', budget_tokens: 1_024 } },
  ],
  [
    'anthropic',
    /cannot both be specified/,
    { model: 'claude-sonnet-4-5', temperature: 0.5, top_p: 0.5 },
  ],
  ['anthropic', /user_id/, { metadata: { user_id: 'ada@example.com' } }],
  ['google', /contents is not specified/, { contents: [] }],
  ['google', /must not be empty/, { contents: [{ role: 'user', parts: [] }] }],
  ['google', /Invalid function name/, { tools: [{ functionDeclarations: [{ name: '7zip' }] }] }],
  [
    'google',
    /comes immediately after a user turn/,
    { contents: [{ role: 'model', parts: [part('f')] }] },
  ],
  [
    'google',
    /number of function response parts/,
    {
      contents: [say, { role: 'model', parts: [part('f'), part('f')] }].concat({
        role: 'user',
        parts: [reply('f')],
      } as never),
    },
  ],
  ['google', /single turn requests/, { contents: [say, { role: 'model', parts: [part('f')] }] }],
  [
    'google',
    /Unknown name "const" at 'tools\[0\].*\.properties'/,
    {
      contents: [say],
      tools: [
        { functionDeclarations: [{ name: 'f', parameters: { properties: { a: { const: 1 } } } }] },
      ],
    },
  ],
  [
    'google',
    /Function g of/,
    {
      contents: [say],
      toolConfig: { functionCallingConfig: { allowedFunctionNames: ['g'] } },
    },
  ],
  [
    'google',
    /missing a thought_signature/,
    {
      model: 'gemini-3-pro',
      contents: [say, { role: 'model', parts: [part('f')] }].concat({
        role: 'user',
        parts: [reply('f')],
      } as never),
    },
  ],
  [
    'google',
    /response mime type/,
    {
      model: 'gemini-2.5-pro',
      contents: [say],
      tools: [{}],
      generationConfig: { responseMimeType: 'application/json' },
    },
  ],
  [
    'google',
    /Penalty is not enabled/,
    { model: 'gemini-2.5-pro', contents: [say], generationConfig: { presencePenalty: 1 } },
  ],
  ['mistral', /was call_1 but must be/, { messages: [user, calls('call_1'), result('call_1')] }],
  [
    'mistral',
    /'user' after role 'tool'/,
    { messages: [user, calls('abcdefgh1'), result('abcdefgh1'), user] },
  ],
  ['mistral', /Expected last role/, { messages: [user, { role: 'assistant', content: 'a' }] }],
  ['mistral', /Not the same number/, { messages: [user, calls('abcdefgh1'), user] }],
  [
    'mistral',
    /reasoning_content: Extra inputs/,
    { messages: [user, { role: 'assistant', content: 'a', reasoning_content: 'b' }, user] },
  ],
  [
    'groq',
    /'reasoning_content' is unsupported/,
    { messages: [user, { role: 'assistant', content: 'a', reasoning_content: 'b' }] },
  ],
  [
    'deepseek',
    /`reasoning_content` in the thinking mode must be passed back/,
    { model: 'deepseek-v4-pro', messages: [user, calls('a'), result('a')] },
  ],
  [
    'moonshot',
    /reasoning_content is missing in assistant tool call message at index 1/,
    { model: 'kimi-k2.6', messages: [user, calls('a'), result('a')] },
  ],
  [
    'llamacpp',
    /System message must be at the beginning/,
    { messages: [user, { role: 'system', content: 'a' }] },
  ],
];
