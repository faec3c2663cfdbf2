import type { CanonicalCodec } from '../../canonical/codec.ts';
import { readChatUsage } from '../chat-answer.ts';
import { createChatDecoder } from './chat-decoder.ts';
import { createChatEncoder } from './chat-encoder.ts';
import { CHAT_ALSO_READS, CHAT_FEATURES } from './chat-features.ts';
import { readChatAnswer } from './read-answer.ts';
import { readChatRequest } from './read-request.ts';
import { writeChatAnswer } from './write-answer.ts';
import { writeChatRequest } from './write-request.ts';

/** Chat completions to and from the canonical form (requirement routing.translation.pairs). */
export const chatCodec: CanonicalCodec = {
  id: 'chat',
  features: CHAT_FEATURES,
  alsoReads: CHAT_ALSO_READS,
  unshown: new Set(['image', 'audio', 'document']),
  decodeRequest: readChatRequest,
  encodeRequest: writeChatRequest,
  decodeAnswer: readChatAnswer,
  readUsage: readChatUsage,
  encodeAnswer: writeChatAnswer,
  createDecoder: createChatDecoder,
  createEncoder: createChatEncoder,
};
