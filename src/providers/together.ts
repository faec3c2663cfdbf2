import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/** See docs.together.ai/docs/inference/openai-compatibility. */
export const together: ProviderDefinition = defineProvider({
  id: 'together',
  displayName: 'Together AI',
  baseUrl: 'https://api.together.ai/v1',
  auth: { type: 'bearer' },
  protocols: {
    chat: { path: '/chat/completions' },
    embeddings: { path: '/embeddings' },
    images: { path: '/images/generations' },
  },
  fetchesMedia: true,
  // No other name of the limit is known there, and unknown fields are ignored.
  quirks: { chat: { rename: { max_completion_tokens: 'max_tokens' } } },
  envKeys: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'],
  models: OPENAI_LISTING,
});
