import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/** See docs.fireworks.ai; its Messages layer takes the same bearer token. */
export const fireworks: ProviderDefinition = defineProvider({
  id: 'fireworks',
  displayName: 'Fireworks AI',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  auth: { type: 'bearer' },
  protocols: {
    chat: { path: '/chat/completions' },
    responses: { path: '/responses' },
    messages: { path: '/messages' },
    embeddings: { path: '/embeddings' },
  },
  fetchesMedia: true,
  envKeys: ['FIREWORKS_API_KEY'],
  models: OPENAI_LISTING,
});
