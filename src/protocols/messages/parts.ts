import type { Family } from '../family.ts';
import type { ProtocolParts } from '../protocol-parts.ts';
import { messagesCodec } from './codec/messages-codec.ts';
import { countTokens } from './count-tokens.ts';
import { messages } from './messages.ts';

const FAMILY: Family = {
  carriers: ['x-api-key', 'bearer'],
  lendsBearer: true,
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

export const parts: ProtocolParts = {
  wire: messages,
  codec: messagesCodec,
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
