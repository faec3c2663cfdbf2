import { defineProvider } from '../define-provider.ts';
import type { ProviderDefinition } from '../define-provider.ts';

/** Answers every protocol deterministically, in process, without network or key (docs/mock.md). */
export const mock: ProviderDefinition = defineProvider({
  id: 'mock',
  displayName: 'Mock',
  baseUrl: 'mock://local',
  auth: { type: 'none' },
  isFree: true,
  protocols: {
    chat: { path: '/v1/chat/completions' },
    responses: { path: '/v1/responses' },
    messages: { path: '/v1/messages' },
    'generate-content': { path: '/v1beta/models/{model}:{method}' },
    interactions: { path: '/v1beta/interactions' },
    embeddings: { path: '/v1/embeddings' },
    images: { path: '/v1/images/generations' },
    videos: { path: '/v1/videos' },
  },
});
