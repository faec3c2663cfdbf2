import { defineProvider } from './define-provider.ts';
import type { ProviderDefinition } from './define-provider.ts';

/** The reference of the Messages protocol (platform.claude.com/docs/en/api). Its chat layer is for trials only. */
export const anthropic: ProviderDefinition = defineProvider({
  id: 'anthropic',
  displayName: 'Anthropic',
  baseUrl: 'https://api.anthropic.com',
  auth: { type: 'header', name: 'x-api-key' },
  protocols: {
    messages: { path: '/v1/messages' },
  },
  fetchesMedia: true,
  envKeys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
  envUrl: 'ANTHROPIC_BASE_URL',
  models: {
    path: '/v1/models',
    query: 'limit=1000',
    headersOf: 'messages',
    next: { member: 'last_id', parameter: 'after_id', more: 'has_more' },
  },
  ownNames: ['claude-*'],
});
