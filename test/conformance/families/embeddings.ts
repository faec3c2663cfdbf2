import type { SurfaceRow } from '../surface.ts';
import { bearer, chatErrorMessage } from './shared.ts';

interface EmbeddingsAnswer {
  object?: string;
  data?: { embedding?: number[] }[];
}

export const row: SurfaceRow = {
  name: 'embeddings',
  protocol: 'embeddings',
  upstreamPath: '/v1/embeddings',
  modelType: 'embedding',
  path: () => '/v1/embeddings',
  body: (model) => `{ "input":"hello", "unheard_of":{"b":1.0},"model":"${model}" }`,
  carriers: [bearer],
  textOf: (body) => {
    const { object, data = [] } = body as EmbeddingsAnswer;
    return `${object} of ${data.length} with ${data[0]?.embedding?.length}`;
  },
  said: 'list of 1 with 256',
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
    unreadable: 503,
  },
  ids: {
    answer: ['embeddings.response.ok'],
    'refused callers': ['embeddings.status.402-403-404-500'],
    'key spent': ['embeddings.status.402-403-404-500'],
    'organization spent': ['embeddings.status.402-403-404-500'],
    'unknown model': ['embeddings.status.402-403-404-500'],
    'not recorded': ['embeddings.status.402-403-404-500'],
    'every 503': ['embeddings.status.503'],
    'unreadable answer': ['embeddings.status.503'],
    'invalid JSON': ['embeddings.request.validation'],
  },
};
