import { defineProtocol } from '../define-protocol.ts';

/** Interactions (contract: Interactions protocol). */
export const interactions = defineProtocol({
  provider: { path: '/interactions' },
  leavesWork: true,
  load: async () => ({ wire: (await import('./interactions.ts')).interactions }),
});
