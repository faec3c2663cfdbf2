import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/** See api-docs.deepseek.com; the Messages layer lives under a path of its own. */
export const deepseek: ProviderDefinition = defineProvider({
  id: 'deepseek',
  displayName: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com',
  auth: { type: 'bearer' },
  protocols: {
    chat: { path: '/chat/completions' },
    messages: { path: '/anthropic/v1/messages', auth: { type: 'header', name: 'x-api-key' } },
  },
  // No other name of the limit is known there, and unknown fields are ignored.
  quirks: { chat: { rename: { max_completion_tokens: 'max_tokens' } } },
  envKeys: ['DEEPSEEK_API_KEY'],
  models: OPENAI_LISTING,
  ownNames: ['deepseek-*'],
});
