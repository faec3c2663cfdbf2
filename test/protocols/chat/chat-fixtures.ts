/** Payloads of chat completions streams, after the vendors' published chunk types. */
export type Payloads = readonly string[];

interface ChunkOptions {
  delta?: unknown;
  finish?: string | null;
  index?: number;
  extra?: Record<string, unknown>;
}

export function chunk({
  delta = {},
  finish = null,
  index = 0,
  extra = {},
}: ChunkOptions = {}): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-4o-2024-08-06',
    choices: [{ index, delta, logprobs: null, finish_reason: finish }],
    ...extra,
  });
}

export const DONE = '[DONE]';
export const role = chunk({ delta: { role: 'assistant', content: '', refusal: null } });
export const stop = chunk({ finish: 'stop' });
export const usage = {
  prompt_tokens: 20,
  completion_tokens: 9,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 4 },
};
export const usageChunk = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [],
  usage,
});

export const text: Payloads = [
  role,
  chunk({ delta: { content: 'Grüße, 世界 🌍' }, extra: { usage: null } }),
  chunk({ delta: { content: ' said "usage":{} and "error" and\n[DONE]' } }),
  stop,
  usageChunk,
  DONE,
];

export const tools: Payloads = [
  chunk({
    delta: {
      role: 'assistant',
      content: null,
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } },
      ],
    },
  }),
  chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: '{"error":"finish' } }] } }),
  chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: '_reason"}' } }] } }),
  chunk({ finish: 'tool_calls', extra: { usage } }),
  DONE,
];

export const reasoning: Payloads = [
  role,
  chunk({ delta: { reasoning_content: 'hmm 🤔' } }),
  chunk({ delta: { content: 'yes' }, finish: 'stop' }),
];

export const failing: Payloads = [
  role,
  chunk({ delta: { content: 'half' } }),
  JSON.stringify({
    error: { message: 'böse', type: 'server_error', code: 'overloaded', status: 529 },
  }),
  chunk({ delta: { content: 'late' } }),
  DONE,
];

/** Payloads as frames; `gap` is what stands between `data:` and the payload. */
export function frames(payloads: Payloads, { end = '\n', gap = ' ' } = {}): string {
  return payloads.map((payload) => `data:${gap}${payload}${end}${end}`).join('');
}
