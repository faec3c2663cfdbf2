import { CHAT_TEMPLATE } from '../../protocols/capabilities/open-models.ts';
import { defineProvider } from '../define-provider.ts';
import type { ProviderDefinition } from '../define-provider.ts';
import { OPENAI_LISTING } from '../listing/model-listing.ts';

/** An SGLang server on this machine (docs.sglang.io, OpenAI-compatible APIs); a key only when it was started with one. */
export const sglang: ProviderDefinition = defineProvider({
  id: 'sglang',
  displayName: 'SGLang',
  baseUrl: 'http://127.0.0.1:30000/v1',
  auth: { type: 'bearer' },
  keyOptional: true,
  isFree: true,
  protocols: {
    chat: { path: '/chat/completions' },
    embeddings: { path: '/embeddings' },
  },
  envKeys: ['SGLANG_API_KEY'],
  capabilities: CHAT_TEMPLATE,
  models: OPENAI_LISTING,
});
