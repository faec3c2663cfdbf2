import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';

/** The Gemini API (ai.google.dev/api); its OpenAI layer takes the key as a bearer token. */
export const google: ProviderDefinition = defineProvider({
  id: 'google',
  displayName: 'Google Gemini',
  baseUrl: 'https://generativelanguage.googleapis.com',
  auth: { type: 'header', name: 'x-goog-api-key' },
  protocols: {
    'generate-content': { path: '/v1beta/models/{model}:{method}' },
    interactions: { path: '/v1beta/interactions' },
    chat: { path: '/v1beta/openai/chat/completions', auth: { type: 'bearer' } },
    embeddings: { path: '/v1beta/openai/embeddings', auth: { type: 'bearer' } },
    images: { path: '/v1beta/openai/images/generations', auth: { type: 'bearer' } },
  },
  envKeys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  envUrl: 'GOOGLE_GEMINI_BASE_URL',
  models: {
    path: '/v1beta/models',
    query: 'pageSize=1000',
    entries: 'models',
    name: 'name',
    prefix: 'models/',
    next: { member: 'nextPageToken', parameter: 'pageToken' },
  },
  ownNames: ['gemini-*'],
});
