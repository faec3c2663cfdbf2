import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/** One key for many vendors (openrouter.ai/docs/api). */
export const openrouter: ProviderDefinition = defineProvider({
  id: 'openrouter',
  displayName: 'OpenRouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  auth: { type: 'bearer' },
  protocols: {
    chat: { path: '/chat/completions' },
    responses: { path: '/responses' },
    messages: { path: '/messages' },
    embeddings: { path: '/embeddings' },
  },
  fetchesMedia: true,
  envKeys: ['OPENROUTER_API_KEY'],
  models: OPENAI_LISTING,
});
