import { defineProtocol } from '../define-protocol.ts';
import { STANDARD } from '../family.ts';

/** Embeddings (contract: Embeddings). */
export const embeddings = defineProtocol({
  provider: { path: '/embeddings' },
  async load() {
    const { embeddings: wire } = await import('./embeddings.ts');
    return {
      wire,
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
  },
});
