import { payloads } from '../../support/chat.ts';
import type { SurfaceRow } from '../surface.ts';
import { bearer, googleErrorMessage } from './shared.ts';

interface Step {
  type?: string;
  content?: { text?: string }[];
}

interface Event {
  event_type?: string;
  delta?: { text?: string };
  error?: { code?: string; message?: string };
}

const eventsOf = (text: string): Event[] =>
  payloads(text).map((payload) => JSON.parse(payload) as Event);

export const row: SurfaceRow = {
  name: 'interactions',
  protocol: 'interactions',
  upstreamPath: '/v1beta/interactions',
  path: () => '/v1beta/interactions',
  body: (model, stream) =>
    `{ "input":"hello",\n "unheard_of":{"b":1.0,"a":9007199254740993},"model":"${model}"${stream ? ',"stream":true' : ''} }`,
  carriers: [
    (key) => ({ headers: { 'x-native-api-key': key } }),
    (key) => ({ headers: { 'x-goog-api-key': key } }),
    bearer,
    (key) => ({ query: `key=${key}` }),
  ],
  textOf: (body) =>
    (body as { steps?: Step[] }).steps
      ?.filter(({ type }) => type === 'model_output')
      .flatMap(({ content = [] }) => content.map(({ text }) => text ?? ''))
      .join('') ?? '',
  // 100 x 1 + 1000 x 0.1 + 30 x 10 + 20 x 20, a millionth each.
  cost: '0.0009',
  stream: {
    textOf: (text) =>
      eventsOf(text)
        .map(({ delta }) => delta?.text ?? '')
        .join(''),
    isWhole: (text) => eventsOf(text).at(-1)?.event_type === 'interaction.completed',
    endsInError(text) {
      const { event_type: type, error } = eventsOf(text).at(-1) ?? {};
      return type === 'error' && error?.code !== undefined && error.message !== undefined;
    },
  },
  errorMessage: googleErrorMessage,
  flat: false,
  statuses: {
    unknownModel: 404,
    noRoute: 400,
    keySpent: 403,
    limited: 429,
    unauthorized: 503,
    forbidden: 403,
    failed: 503,
    unreadable: 502,
  },
  ids: {
    faithful: ['interactions.create.fields-forwarded'],
    carriers: ['auth.google.carriers', 'auth.google.priority', 'auth.google.vendor-alias'],
    stream: ['interactions.stream.sse'],
    'no key': ['errors.google.shape'],
    'key spent': ['limits.spend.key-403-protocol', 'errors.google.shape'],
    'no route': ['interactions.create.no-mapping'],
    'unknown model': ['interactions.create.no-mapping'],
    'cut stream': ['interactions.stream.open-events'],
  },
};
