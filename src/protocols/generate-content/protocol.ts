import { defineProtocol } from '../define-protocol.ts';

/** Generate-content, and how long a prompt is, free of charge (contract: Generate-content protocol). */
export const generateContent = defineProtocol({
  provider: {
    path: '/models/{model}:{method}',
    method: (stream) => (stream ? 'streamGenerateContent' : 'generateContent'),
    streamQuery: 'alt=sse',
  },
  signsNext: true,
  load: async () => (await import('./parts.ts')).parts,
});
