import { CHAT_TEMPLATE } from '../protocols/capabilities/open-models.ts';
import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/** Models on this machine (docs.ollama.com/api/openai-compatibility); a key is only needed for its cloud. */
export const ollama: ProviderDefinition = defineProvider({
  id: 'ollama',
  displayName: 'Ollama',
  baseUrl: 'http://127.0.0.1:11434/v1',
  auth: { type: 'bearer' },
  keyOptional: true,
  isFree: true,
  protocols: {
    chat: { path: '/chat/completions' },
    responses: { path: '/responses' },
    messages: { path: '/messages' },
    embeddings: { path: '/embeddings' },
  },
  // No other name of the limit is known there, and unknown fields are ignored.
  quirks: { chat: { rename: { max_completion_tokens: 'max_tokens' } } },
  envKeys: ['OLLAMA_API_KEY'],
  capabilities: CHAT_TEMPLATE,
  models: OPENAI_LISTING,
});
