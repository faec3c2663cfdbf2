import type { Protocol } from '../core/protocol-id.ts';
import { MESSAGES_HEADERS, messagesHeaders } from './messages-headers.ts';
import type { ClientHeaders } from './messages-headers.ts';
import type { ProviderAccount } from './account.ts';

/** The way in which requests of a protocol are addressed, wherever its provider is. */
export interface EndpointRules {
  /** Path of servers that are compatible with the protocol, below a base URL that ends in the version. */
  readonly path: string;
  /** Value of `{method}` in the path for a request that names no operation. */
  method?(stream: boolean): string;
  /** Query of streams, without `?`. Default none. */
  readonly streamQuery?: string;
  /** True: an operation stands in place of the last segment of the path. Default: it is added to it. */
  readonly operationReplaces?: boolean;
  /** Headers that the protocol has of its own, read from the client's. Default none. */
  readonly headers?: {
    readonly names: readonly string[];
    toHeaders(account: ProviderAccount, client: ClientHeaders): string[];
  };
}

export const ENDPOINT_RULES: Readonly<Record<Protocol, EndpointRules>> = {
  chat: { path: '/chat/completions' },
  responses: { path: '/responses' },
  messages: {
    path: '/messages',
    headers: { names: MESSAGES_HEADERS, toHeaders: messagesHeaders },
  },
  'generate-content': {
    path: '/models/{model}:{method}',
    method: (stream) => (stream ? 'streamGenerateContent' : 'generateContent'),
    streamQuery: 'alt=sse',
  },
  interactions: { path: '/interactions' },
  embeddings: { path: '/embeddings' },
  images: { path: '/images/generations', operationReplaces: true },
  videos: { path: '/videos' },
};
