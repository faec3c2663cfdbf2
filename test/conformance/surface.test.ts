import { CHAT_PATH, payloads, streamedText } from '../support/chat.ts';
import { testSurface } from './surface.ts';
import type { SurfaceRow } from './surface.ts';

interface ChatAnswer {
  object?: string;
  choices?: { message?: { content?: string } }[];
  error?: { message?: string; type?: string; param?: string | null; code?: string };
}

const chat: SurfaceRow = {
  name: 'chat',
  path: () => CHAT_PATH,
  body: (model, stream) =>
    `{ "messages":[{"role":"user","content":"hello"}],\n "unheard_of":{"b":1.0,"a":9007199254740993},"model":"${model}"${stream ? ',"stream":true' : ''} }`,
  textOf: (body) => (body as ChatAnswer).choices?.[0]?.message?.content ?? '',
  stream: {
    textOf: streamedText,
    ending: 'data: [DONE]',
    endsInError: (events) => payloads(events).at(-1)?.startsWith('{"error":{"message"') ?? false,
  },
  errorMessage(body) {
    const { error, ...rest } = body as ChatAnswer;
    const names = Object.keys(error ?? {}).sort();
    if (names.join() !== 'code,message,param,type' || Object.keys(rest).length > 0)
      return undefined;
    return error?.message;
  },
  flatAuth: true,
  limitedStatus: 503,
  unauthorizedStatus: 503,
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
  },
};

testSurface(chat);
