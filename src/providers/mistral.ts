import { MISTRAL_API } from '../protocols/capabilities/open-models.ts';
import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/** See docs.mistral.ai/api. */
export const mistral: ProviderDefinition = defineProvider({
  id: 'mistral',
  displayName: 'Mistral AI',
  baseUrl: 'https://api.mistral.ai/v1',
  auth: { type: 'bearer' },
  protocols: {
    chat: { path: '/chat/completions' },
    embeddings: { path: '/embeddings' },
  },
  // Unknown members are refused with 422; usage comes with every stream.
  quirks: {
    chat: {
      drop: ['stream_options'],
      rename: { max_completion_tokens: 'max_tokens', seed: 'random_seed' },
    },
  },
  capabilities: MISTRAL_API.takes,
  noStreamUsage: true,
  fetchesMedia: true,
  envKeys: ['MISTRAL_API_KEY'],
  models: OPENAI_LISTING,
  ownNames: ['mistral-*'],
});
