import { defineProtocol } from '../define-protocol.ts';

/** Generate-content, and how long a prompt is, free of charge (contract: Generate-content protocol). */
export const generateContent = defineProtocol({
  provider: {
    path: '/models/{model}:{method}',
    method: (stream) => (stream ? 'streamGenerateContent' : 'generateContent'),
    streamQuery: 'alt=sse',
  },
  signsNext: true,
  async load() {
    const [{ generateContent: wire }, { generateContentCodec: codec }, { surfacesOf }] =
      await Promise.all([
        import('./generate-content.ts'),
        import('./codec/generate-content-codec.ts'),
        import('./surfaces.ts'),
      ]);
    return { wire, codec, surfaces: surfacesOf };
  },
});
