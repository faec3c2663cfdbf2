import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/** See docs.x.ai; its Messages layer is deprecated and left out. */
export const xai: ProviderDefinition = defineProvider({
  id: 'xai',
  displayName: 'xAI',
  baseUrl: 'https://api.x.ai/v1',
  auth: { type: 'bearer' },
  protocols: {
    chat: { path: '/chat/completions' },
    responses: { path: '/responses' },
    images: { path: '/images/generations' },
  },
  fetchesMedia: true,
  envKeys: ['XAI_API_KEY'],
  models: OPENAI_LISTING,
  ownNames: ['grok-*'],
});
