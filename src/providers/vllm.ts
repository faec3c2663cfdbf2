import { CHAT_TEMPLATE } from '../protocols/capabilities/open-models.ts';
import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/** A `vllm serve` on this machine (docs.vllm.ai, Online Serving); a key only when it was started with one. */
export const vllm: ProviderDefinition = defineProvider({
  id: 'vllm',
  displayName: 'vLLM',
  baseUrl: 'http://127.0.0.1:8000/v1',
  auth: { type: 'bearer' },
  keyOptional: true,
  isFree: true,
  protocols: {
    chat: { path: '/chat/completions' },
    responses: { path: '/responses' },
    messages: { path: '/messages' },
    embeddings: { path: '/embeddings' },
  },
  envKeys: ['VLLM_API_KEY'],
  capabilities: CHAT_TEMPLATE,
  models: OPENAI_LISTING,
});
