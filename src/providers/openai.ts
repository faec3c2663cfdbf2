import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/** The reference of the chat, Responses, embeddings and images protocols (developers.openai.com/api). */
export const openai: ProviderDefinition = defineProvider({
  id: 'openai',
  displayName: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  auth: { type: 'bearer' },
  protocols: {
    chat: { path: '/chat/completions' },
    responses: { path: '/responses' },
    embeddings: { path: '/embeddings' },
    images: { path: '/images/generations' },
  },
  fetchesMedia: true,
  envKeys: ['OPENAI_API_KEY'],
  envUrl: 'OPENAI_BASE_URL',
  models: OPENAI_LISTING,
  ownNames: ['gpt-*'],
});
