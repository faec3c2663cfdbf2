import { messagesEvents, messagesText } from '../../support/messages.ts';
import type { SurfaceRow } from '../surface.ts';
import { bearer, messagesErrorMessage } from './shared.ts';

interface Message {
  content?: { text?: string }[];
}

export const row: SurfaceRow = {
  name: 'messages',
  protocol: 'messages',
  upstreamPath: '/v1/messages',
  path: () => '/v1/messages',
  body: (model, stream) =>
    `{ "max_tokens":64, "messages":[{"role":"user","content":"hello"}],\n "unheard_of":{"b":1.0,"a":9007199254740993},"model":"${model}"${stream ? ',"stream":true' : ''} }`,
  carriers: [(key) => ({ headers: { 'x-api-key': key } }), bearer],
  textOf: (body) => (body as Message).content?.map(({ text }) => text ?? '').join('') ?? '',
  // 100 x 1 + 1000 x 0.1 + 50 x 10, a millionth each; the mock tells no thinking tokens here.
  cost: '0.0007',
  stream: {
    textOf: messagesText,
    isWhole: (events) => {
      const types = messagesEvents(events).map(({ type }) => type);
      return types.indexOf('message_stop') === types.length - 1 && !types.includes('error');
    },
    endsInError: (events) => messagesErrorMessage(messagesEvents(events).at(-1)) !== undefined,
  },
  errorMessage: messagesErrorMessage,
  flat: false,
  statuses: {
    unknownModel: 404,
    noRoute: 404,
    keySpent: 403,
    limited: 429,
    unauthorized: 503,
    forbidden: 403,
    failed: 500,
    unreadable: 502,
  },
  ids: {
    faithful: ['routing.body.byte-faithful'],
    carriers: ['auth.messages.carriers', 'auth.carrier.first-present-decides'],
    'no key': ['errors.messages.shape'],
    'refused callers': ['messages.status.402-403'],
    'key spent': ['messages.status.402-403', 'limits.spend.key-403-protocol'],
    'organization spent': ['messages.status.402-403'],
    'unknown model': ['messages.status.404-413'],
    'every 403': ['messages.status.402-403'],
    'every 429': ['messages.status.429', 'errors.429.no-retry-headers'],
    'every 500': ['messages.status.503'],
    'every 503': ['messages.status.503'],
    'not recorded': ['messages.status.500'],
    'cut stream': ['messages.stream.error-in-band'],
  },
};
