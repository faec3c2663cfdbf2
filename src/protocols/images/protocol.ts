import { defineProtocol } from '../define-protocol.ts';

/** Image generations, and edits of pictures that come as files of a form (contract: Images). */
export const images = defineProtocol({
  provider: { path: '/images/generations', operationReplaces: true },
  load: async () => (await import('./parts.ts')).parts,
});
