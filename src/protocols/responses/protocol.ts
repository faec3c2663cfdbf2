import { defineProtocol } from '../define-protocol.ts';

/** Responses (contract: Responses). */
export const responses = defineProtocol({
  provider: { path: '/responses' },
  bindsReasoning: true,
  load: async () => (await import('./parts.ts')).parts,
});
