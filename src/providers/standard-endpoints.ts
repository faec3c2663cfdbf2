import type { Protocol } from '../core/protocol-id.ts';
import type { ProtocolEndpoint } from './define-provider.ts';

/** Where a server that is compatible with a protocol serves it, below a base URL that ends in the version. */
export const STANDARD_ENDPOINTS: Readonly<Record<Protocol, ProtocolEndpoint>> = {
  chat: { path: '/chat/completions' },
  responses: { path: '/responses' },
  messages: { path: '/messages' },
  'generate-content': { path: '/models/{model}:{method}' },
  interactions: { path: '/interactions' },
  embeddings: { path: '/embeddings' },
  images: { path: '/images/generations' },
  videos: { path: '/videos' },
};
