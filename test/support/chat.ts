import OpenAI from 'openai';
import type { TestGateway } from './gateway.ts';

/** The unmodified official client, without its own retries, so that a test sees the first answer. */
export function openaiClient(gateway: TestGateway, apiKey = gateway.clientKey): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
}

export const CHAT_PATH = '/v1/chat/completions';

/** A chat request body with one user message. */
export function chatBody(model: string, extra: object = {}): string {
  return JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }], ...extra });
}

/** A provider of type custom at an address. */
export function customProvider(name: string, url: string, extra: object = {}): object {
  return { name, type: 'custom', base_url: `${url}/v1`, auth: { type: 'none' }, ...extra };
}

/** A model whose routes are tried in the order of the list. */
export function orderedModel(
  name: string,
  providers: readonly string[],
  extra: object = {},
): object {
  return {
    name,
    pricing: 'free',
    routes: providers.map((provider, priority) => ({
      provider,
      upstream_model: 'up',
      priority,
    })),
    ...extra,
  };
}

/** The payloads of an event stream, in order; comments are left out. */
export function payloads(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trim());
}

interface Delta {
  choices?: { delta?: { content?: string | null } }[];
}

/** The text that the chunks of a chat stream add up to. */
export function streamedText(text: string): string {
  return payloads(text)
    .filter((payload) => payload !== '[DONE]')
    .map((payload) => (JSON.parse(payload) as Delta).choices?.[0]?.delta?.content ?? '')
    .join('');
}

/** One chunk as a provider would send it. */
export function chunk(delta: object, finish: string | null = null): string {
  const body = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
  return `data: ${JSON.stringify(body)}\n\n`;
}

export const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
};
