import { COHERE_API } from '../protocols/capabilities/open-models.ts';
import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';

/** Cohere's compatibility API (docs.cohere.com/docs/compatibility-api). */
export const cohere: ProviderDefinition = defineProvider({
  id: 'cohere',
  displayName: 'Cohere',
  baseUrl: 'https://api.cohere.ai/compatibility/v1',
  auth: { type: 'bearer' },
  protocols: {
    chat: { path: '/chat/completions' },
    embeddings: { path: '/embeddings' },
  },
  // No other name of the limit is known there, and unknown fields are ignored.
  quirks: { chat: { rename: { max_completion_tokens: 'max_tokens' } } },
  capabilities: COHERE_API.takes,
  envKeys: ['COHERE_API_KEY', 'CO_API_KEY'],
});
