import { PROTOCOL_PATHS, PROTOCOLS, type Protocol } from '../core/protocol-id.ts';
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

/** Rules of protocols that are addressed by more than a path. */
const OWN_RULES: Readonly<Partial<Record<Protocol, Omit<EndpointRules, 'path'>>>> = {
  messages: { headers: { names: MESSAGES_HEADERS, toHeaders: messagesHeaders } },
  'generate-content': {
    method: (stream) => (stream ? 'streamGenerateContent' : 'generateContent'),
    streamQuery: 'alt=sse',
  },
  images: { operationReplaces: true },
};

export const ENDPOINT_RULES = Object.fromEntries(
  PROTOCOLS.map((protocol) => [
    protocol,
    { path: PROTOCOL_PATHS[protocol], ...OWN_RULES[protocol] },
  ]),
) as Readonly<Record<Protocol, EndpointRules>>;
