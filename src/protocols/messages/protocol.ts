import { defineProtocol } from '../define-protocol.ts';
import type { Family } from '../family.ts';
import { MESSAGES_HEADERS, messagesHeaders } from './messages-headers.ts';

const FAMILY: Family = {
  carriers: ['x-api-key', 'bearer'],
  envelope: 'messages',
  keySpent: 403,
  unknownModel: 404,
  noRoute: 404,
  unreadable: 502,
  refusals: [400, 404, 413],
  limited: 'all',
  denials: [403],
  failed: true,
};

/** Messages, and how long a prompt is, free of charge (contract: Messages protocol). */
export const messages = defineProtocol({
  provider: {
    path: '/messages',
    headers: { names: MESSAGES_HEADERS, toHeaders: messagesHeaders },
  },
  async load() {
    const [{ messages: wire }, { messagesCodec: codec }, { countTokens }] = await Promise.all([
      import('./messages.ts'),
      import('./codec/messages-codec.ts'),
      import('./count-tokens.ts'),
    ]);
    return {
      wire,
      codec,
      surfaces: (protocol) => [
        {
          name: 'messages',
          paths: ['/v1/messages'],
          family: FAMILY,
          protocol,
          repeatable: true,
        },
        {
          name: 'messages.count_tokens',
          paths: ['/v1/messages/count_tokens'],
          family: FAMILY,
          protocol: countTokens,
          repeatable: true,
          free: true,
        },
      ],
    };
  },
});
