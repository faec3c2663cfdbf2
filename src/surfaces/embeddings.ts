import { embeddings } from '../protocols/embeddings/embeddings.ts';
import { FAMILIES } from './family.ts';
import type { InferenceSurface } from './inference-surface.ts';

/** `POST /v1/embeddings` (contract: Embeddings). */
export const embeddingsSurface: InferenceSurface = {
  name: 'embeddings',
  paths: ['/v1/embeddings'],
  family: FAMILIES.embeddings,
  protocol: embeddings,
  repeatable: true,
  modelType: 'embedding',
};
