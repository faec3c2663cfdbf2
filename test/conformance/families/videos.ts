import type { SurfaceRow } from '../surface.ts';
import { bearer, flatErrorMessage } from './shared.ts';

interface VideoAnswer {
  id: string;
  status?: string;
  prompt?: string;
}

export const row: SurfaceRow = {
  name: 'videos',
  protocol: 'videos',
  upstreamPath: '/v1/videos',
  modelType: 'video',
  once: true,
  path: () => '/v1/videos',
  body: (model) => `{ "prompt":"hello", "unheard_of":{"b":1.0},"model":"${model}" }`,
  carriers: [bearer],
  textOf: (body) => {
    const { status, prompt } = body as VideoAnswer;
    return `${status}: ${prompt}`;
  },
  said: 'queued: hello',
  taskPath: (body) => `/v1/videos/${(body as VideoAnswer).id}`,
  errorMessage: flatErrorMessage,
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
    answer: ['video.tasks.shape'],
    'candidate order': ['routing.same-policy-all-families'],
    'refused callers': ['errors.flat.which'],
    'key spent': ['limits.spend.key-402'],
    'every 429': ['chat.status.all-429-is-503'],
  },
};
