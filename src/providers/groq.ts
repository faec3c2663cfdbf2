import { GROQ_API } from '../protocols/capabilities/open-models.ts';
import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/** See console.groq.com/docs/openai. */
export const groq: ProviderDefinition = defineProvider({
  id: 'groq',
  displayName: 'Groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  auth: { type: 'bearer' },
  protocols: {
    chat: { path: '/chat/completions' },
    responses: { path: '/responses' },
  },
  capabilities: GROQ_API.takes,
  fetchesMedia: true,
  envKeys: ['GROQ_API_KEY'],
  models: OPENAI_LISTING,
});
