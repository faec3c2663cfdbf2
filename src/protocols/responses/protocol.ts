import { defineProtocol } from '../define-protocol.ts';

/** Responses (contract: Responses). */
export const responses = defineProtocol({
  provider: { path: '/responses' },
  bindsReasoning: 'account',
  load: async () => (await import('./parts.ts')).parts,
});
