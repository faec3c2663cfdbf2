import { defineProtocol } from '../define-protocol.ts';

/** Chat completions (contract: Chat completions). */
export const chat = defineProtocol({
  provider: { path: '/chat/completions' },
  bindsReasoning: 'vendor',
  load: async () => (await import('./parts.ts')).parts,
});
