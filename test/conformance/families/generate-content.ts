import { payloads } from '../../support/chat.ts';
import type { SurfaceRow } from '../surface.ts';
import { bearer, googleErrorMessage } from './shared.ts';

interface Answer {
  candidates?: { content?: { parts?: { text?: string }[] }; finishReason?: string }[];
  error?: object;
}

const answersOf = (events: string): Answer[] =>
  payloads(events).map((payload) => JSON.parse(payload) as Answer);

const textOf = ({ candidates = [] }: Answer): string =>
  candidates
    .flatMap(({ content }) => content?.parts ?? [])
    .map(({ text }) => text ?? '')
    .join('');

export const row: SurfaceRow = {
  name: 'generate-content',
  protocol: 'generate-content',
  upstreamPath: '/v1beta/models/{model}:{method}',
  path: (model, stream) =>
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: () =>
    '{ "contents":[{"role":"user","parts":[{"text":"hello"}]}],\n "unheardOf":{"b":1.0,"a":9007199254740993} }',
  carriers: [
    (key) => ({ headers: { 'x-native-api-key': key } }),
    (key) => ({ headers: { 'x-goog-api-key': key } }),
    bearer,
    (key) => ({ query: `key=${key}` }),
  ],
  textOf: (body) => textOf(body as Answer),
  // 100 x 1 + 1000 x 0.1 + 30 x 10 + 20 x 20, a millionth each.
  cost: '0.0009',
  stream: {
    textOf: (events) => answersOf(events).map(textOf).join(''),
    isWhole: (events) => answersOf(events).at(-1)?.candidates?.[0]?.finishReason === 'STOP',
    endsInError: (events) => googleErrorMessage(answersOf(events).at(-1)) !== undefined,
  },
  errorMessage: googleErrorMessage,
  flat: false,
  statuses: {
    unknownModel: 404,
    noRoute: 404,
    keySpent: 403,
    limited: 429,
    unauthorized: 503,
    forbidden: 403,
    failed: 503,
    unreadable: 502,
  },
  ids: {
    carriers: ['auth.google.carriers', 'auth.google.priority', 'auth.google.vendor-alias'],
    stream: ['gencontent.stream.alt-sse'],
    'no key': ['errors.google.shape'],
    'refused callers': ['gencontent.status.402-403-429'],
    'key spent': ['gencontent.status.402-403-429', 'errors.google.shape'],
    'organization spent': ['gencontent.status.402-403-429'],
    'every 429': ['gencontent.status.402-403-429'],
    'every 403': ['gencontent.status.402-403-429'],
    'unknown model': ['gencontent.path.not-found'],
    'no route': ['gencontent.no-protocol-fallback'],
    'every 503': ['gencontent.status.500'],
    'unreadable answer': ['gencontent.status.500'],
    'not recorded': ['gencontent.status.500'],
    'cut stream': ['gencontent.stream.error-in-band'],
  },
};
