/** Wire formats that a provider can speak, and their usual paths below a base URL that ends in the version. */
export const PROTOCOL_PATHS = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  'generate-content': '/models/{model}:{method}',
  interactions: '/interactions',
  embeddings: '/embeddings',
  images: '/images/generations',
  videos: '/videos',
} as const;

export type Protocol = keyof typeof PROTOCOL_PATHS;

export const PROTOCOLS = Object.keys(PROTOCOL_PATHS) as [Protocol, ...Protocol[]];
