import { CHAT_PATH, payloads, streamedText } from '../../support/chat.ts';
import type { SurfaceRow } from '../surface.ts';
import { bearer, chatErrorMessage } from './shared.ts';

interface ChatAnswer {
  choices?: { message?: { content?: string } }[];
}

export const row: SurfaceRow = {
  name: 'chat',
  protocol: 'chat',
  upstreamPath: '/v1/chat/completions',
  path: () => CHAT_PATH,
  body: (model, stream) =>
    `{ "messages":[{"role":"user","content":"hello"}],\n "unheard_of":{"b":1.0,"a":9007199254740993},"model":"${model}"${stream ? ',"stream":true' : ''} }`,
  carriers: [bearer],
  textOf: (body) => (body as ChatAnswer).choices?.[0]?.message?.content ?? '',
  // 100 x 1 + 1000 x 0.1 + 30 x 10 + 20 x 20, a millionth each.
  cost: '0.0009',
  stream: {
    textOf: streamedText,
    isWhole: (events) => events.split('data: [DONE]').length === 2 && events.endsWith('[DONE]\n\n'),
    endsInError: (events) => payloads(events).at(-1)?.startsWith('{"error":{"message"') ?? false,
  },
  errorMessage: chatErrorMessage,
  flat: true,
  statuses: {
    unknownModel: 404,
    noRoute: 404,
    keySpent: 402,
    limited: 503,
    unauthorized: 503,
    forbidden: 503,
    failed: 503,
    unreadable: 502,
  },
  ids: {
    answer: ['chat.response.json', 'errors.request-id.header'],
    stream: ['chat.stream.ends-with-done'],
    'candidate order': ['routing.candidates-in-turn', 'routing.retryable-set'],
    'unknown model': ['chat.status.404-model'],
    'invalid JSON': ['chat.request.validation', 'errors.invalid-json', 'errors.chat.shape'],
    'provider 400': ['chat.status.400-provider'],
    'every 503': ['chat.status.503-no-route'],
    'every 429': ['chat.status.all-429-is-503', 'errors.429.no-retry-headers'],
    'every 401': ['routing.provider-401-not-client-401'],
    'unreadable answer': ['chat.status.502-invalid-response'],
    'not recorded': ['chat.status.500-persistence'],
  },
};
