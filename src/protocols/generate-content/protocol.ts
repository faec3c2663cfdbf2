import { defineProtocol } from '../define-protocol.ts';

/** Generate-content, and free counts of tokens (contract: Generate-content protocol). */
export const generateContent = defineProtocol({
  provider: {
    path: '/models/{model}:{method}',
    method: (stream) => (stream ? 'streamGenerateContent' : 'generateContent'),
    streamQuery: 'alt=sse',
  },
  signsNext: true,
  load: async () => (await import('./parts.ts')).parts,
});
