import { CHAT_TEMPLATE } from '../../protocols/capabilities/open-models.ts';
import { defineProvider } from '../define-provider.ts';
import type { ProviderDefinition } from '../define-provider.ts';
import { OPENAI_LISTING } from '../listing/model-listing.ts';

/** A `llama-server` on this machine (github.com/ggml-org/llama.cpp, tools/server); a key only when it was started with one. */
export const llamaCpp: ProviderDefinition = defineProvider({
  id: 'llamacpp',
  displayName: 'llama.cpp',
  baseUrl: 'http://127.0.0.1:8080/v1',
  auth: { type: 'bearer' },
  keyOptional: true,
  isFree: true,
  protocols: {
    chat: { path: '/chat/completions' },
    embeddings: { path: '/embeddings' },
  },
  envKeys: ['LLAMA_API_KEY'],
  capabilities: CHAT_TEMPLATE,
  models: OPENAI_LISTING,
});
