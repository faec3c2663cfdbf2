import { CHAT_TEMPLATE } from '../protocols/capabilities/open-models.ts';
import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { OPENAI_LISTING } from './listing/model-listing.ts';

/**
 * Any other server. `base_url` includes the version (`https://host/v1`); further protocols besides chat and
 * embeddings, and their paths, are given in `protocols`, how it wants its key in `auth`.
 */
export const custom: ProviderDefinition = defineProvider({
  id: 'custom',
  displayName: 'Compatible server',
  auth: { type: 'bearer' },
  keyOptional: true,
  protocols: {
    chat: { path: '/chat/completions' },
    embeddings: { path: '/embeddings' },
  },
  capabilities: CHAT_TEMPLATE,
  models: OPENAI_LISTING,
});
