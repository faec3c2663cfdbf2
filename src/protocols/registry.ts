import { chat } from './chat/protocol.ts';
import { embeddings } from './embeddings/protocol.ts';
import { generateContent } from './generate-content/protocol.ts';
import { images } from './images/protocol.ts';
import { interactions } from './interactions/protocol.ts';
import { messages } from './messages/protocol.ts';
import { responses } from './responses/protocol.ts';
import { videos } from './videos/protocol.ts';

/** Every wire protocol, by the id that configuration and records name it by. */
export const PROTOCOLS = {
  chat,
  responses,
  messages,
  'generate-content': generateContent,
  interactions,
  embeddings,
  images,
  videos,
} as const;

export type Protocol = keyof typeof PROTOCOLS;

export const PROTOCOL_IDS = Object.keys(PROTOCOLS) as [Protocol, ...Protocol[]];
