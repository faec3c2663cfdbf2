import { CHAT_TEMPLATE } from '../../protocols/capabilities/open-models.ts';
import { defineProvider } from '../define-provider.ts';
import type { ProviderDefinition } from '../define-provider.ts';
import { OPENAI_LISTING } from '../listing/model-listing.ts';

/** Models of the LM Studio on this machine (lmstudio.ai/docs/developer/openai-compat); a key only when it was started with one. */
export const lmStudio: ProviderDefinition = defineProvider({
  id: 'lmstudio',
  displayName: 'LM Studio',
  baseUrl: 'http://127.0.0.1:1234/v1',
  auth: { type: 'bearer' },
  keyOptional: true,
  isFree: true,
  protocols: {
    chat: { path: '/chat/completions' },
    embeddings: { path: '/embeddings' },
  },
  envKeys: ['LM_STUDIO_API_KEY'],
  capabilities: CHAT_TEMPLATE,
  models: OPENAI_LISTING,
});
