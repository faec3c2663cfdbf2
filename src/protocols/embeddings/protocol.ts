import { defineProtocol } from '../define-protocol.ts';

/** Embeddings (contract: Embeddings). */
export const embeddings = defineProtocol({
  provider: { path: '/embeddings' },
  load: async () => (await import('./parts.ts')).parts,
});
