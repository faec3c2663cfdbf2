import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';

/** Azure's v1 API without `api-version`; `base_url` is `https://<resource>.openai.azure.com/openai/v1`. */
export const azureOpenai: ProviderDefinition = defineProvider({
  id: 'azure-openai',
  displayName: 'Azure OpenAI',
  auth: { type: 'header', name: 'api-key' },
  protocols: {
    chat: { path: '/chat/completions' },
    responses: { path: '/responses' },
    embeddings: { path: '/embeddings' },
    images: { path: '/images/generations' },
  },
  fetchesMedia: true,
  envKeys: ['AZURE_OPENAI_API_KEY'],
});
