import type { SurfaceRow } from '../surface.ts';
import { bearer, chatErrorMessage } from './shared.ts';

interface ImagesAnswer {
  data?: { b64_json?: string }[];
}

/** What a PNG begins with. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

export const row: SurfaceRow = {
  name: 'images',
  protocol: 'images',
  upstreamPath: '/v1/images/generations',
  modelType: 'image',
  once: true,
  path: () => '/v1/images/generations',
  body: (model) => `{ "prompt":"hello", "n":2, "unheard_of":{"b":1.0},"model":"${model}" }`,
  carriers: [bearer],
  textOf: (body) => {
    const images = ((body as ImagesAnswer).data ?? []).map(({ b64_json: data = '' }) =>
      Buffer.from(data, 'base64').subarray(0, PNG.length).equals(PNG),
    );
    return images.join();
  },
  said: 'true,true',
  errorMessage: chatErrorMessage,
  flat: true,
  statuses: {
    unknownModel: 400,
    noRoute: 404,
    keySpent: 402,
    limited: 503,
    unauthorized: 503,
    forbidden: 503,
    failed: 503,
    unreadable: 502,
  },
  ids: {
    answer: ['images.generations.json'],
    faithful: ['images.generations.json', 'routing.model-rewrite-only'],
    'candidate order': ['routing.same-policy-all-families'],
    'refused callers': ['images.status.402-403-429', 'errors.flat.which'],
    'key spent': ['images.status.402-403-429', 'limits.spend.key-402'],
    'organization spent': ['images.status.402-403-429'],
    'unknown model': ['images.model.public-set', 'errors.family.embeddings-images-responses'],
    'no route': ['images.model.public-set'],
    'invalid JSON': ['errors.family.embeddings-images-responses'],
    'not recorded': ['images.status.500-502-503'],
    'every 503': ['images.status.500-502-503'],
    'unreadable answer': ['images.status.500-502-503'],
    'every 429': ['chat.status.all-429-is-503'],
  },
};
