import { GatewayError } from '../core/errors.ts';
import { embeddings } from '../protocols/embeddings/embeddings.ts';
import type { InferenceSurface } from './inference-surface.ts';

/** `POST /v1/embeddings` (contract: Embeddings). */
export const embeddingsSurface: InferenceSurface = {
  name: 'embeddings',
  path: '/v1/embeddings',
  protocol: embeddings,
  carriers: ['bearer'],
  envelope: 'chat',
  repeatable: true,
  modelType: 'embedding',
  // The contract lists no 502 here: an unusable body is one more route that did not succeed.
  toClientError: (error) =>
    error.code === 'invalid_upstream_response'
      ? new GatewayError('no_route_succeeded', { cause: error, retry: error.retry })
      : error,
};
