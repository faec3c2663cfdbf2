import { payloads } from '../../support/chat.ts';
import type { SurfaceRow } from '../surface.ts';
import { bearer, chatErrorMessage } from './shared.ts';

interface ResponsesAnswer {
  output?: { type?: string; content?: { text?: string }[] }[];
}

interface ResponsesEvent {
  type?: string;
  delta?: string;
}

function eventsOf(text: string): ResponsesEvent[] {
  return payloads(text).map((payload) => JSON.parse(payload) as ResponsesEvent);
}

export const row: SurfaceRow = {
  name: 'responses',
  protocol: 'responses',
  upstreamPath: '/v1/responses',
  path: () => '/v1/responses',
  body: (model, stream) =>
    `{ "input":"hello",\n "unheard_of":{"b":1.0,"a":9007199254740993},"model":"${model}"${stream ? ',"stream":true' : ''} }`,
  carriers: [bearer],
  textOf: (body) => (body as ResponsesAnswer).output?.[0]?.content?.[0]?.text ?? '',
  // 100 x 1 + 1000 x 0.1 + 30 x 10 + 20 x 20, a millionth each.
  cost: '0.0009',
  stream: {
    textOf: (text) =>
      eventsOf(text)
        .filter(({ type }) => type === 'response.output_text.delta')
        .map(({ delta }) => delta)
        .join(''),
    isWhole: (text) =>
      text.split('event: response.completed\n').length === 2 &&
      eventsOf(text).at(-1)?.type === 'response.completed',
    endsInError: (text) => eventsOf(text).at(-1)?.type === 'error',
  },
  errorMessage: chatErrorMessage,
  flat: true,
  statuses: {
    unknownModel: 400,
    noRoute: 400,
    keySpent: 402,
    limited: 503,
    unauthorized: 401,
    forbidden: 403,
    failed: 503,
    unreadable: 502,
  },
  ids: {
    'no route': ['responses.status.400-no-provider'],
    'invalid JSON': ['errors.family.embeddings-images-responses'],
    'provider 400': ['responses.status.400-413-upstream'],
    'key spent': ['responses.status.402-org-or-key'],
    'organization spent': ['responses.status.402-org-or-key'],
    'every 401': ['responses.status.401-403'],
    'every 403': ['responses.status.401-403'],
    'every 503': ['responses.status.503-exhausted'],
    'every 429': ['chat.status.all-429-is-503'],
    'unreadable answer': ['responses.response.fail-closed'],
    'not recorded': ['responses.status.500-lifecycle'],
    'cut stream': ['responses.stream.malformed-closed'],
  },
};
