import { STANDARD } from '../family.ts';
import type { ProtocolParts } from '../protocol-parts.ts';
import { chat } from './chat.ts';
import { chatCodec } from './codec/chat-codec.ts';

export const parts: ProtocolParts = {
  wire: chat,
  codec: chatCodec,
  surfaces: (protocol) => [
    {
      name: 'chat',
      paths: ['/v1/chat/completions'],
      family: STANDARD,
      protocol,
      repeatable: true,
    },
  ],
};
