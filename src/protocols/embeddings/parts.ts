import { STANDARD } from '../family.ts';
import type { ProtocolParts } from '../protocol-parts.ts';
import { embeddings } from './embeddings.ts';

export const parts: ProtocolParts = {
  wire: embeddings,
  surfaces: (protocol) => [
    {
      name: 'embeddings',
      paths: ['/v1/embeddings'],
      family: { ...STANDARD, unreadable: 503, refusals: [413] },
      protocol,
      repeatable: true,
      modelType: 'embedding',
    },
  ],
};
