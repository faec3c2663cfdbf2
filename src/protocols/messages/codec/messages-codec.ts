import type { CanonicalCodec } from '../../canonical/codec.ts';
import { readMessagesUsage } from '../messages-answer.ts';
import { decodeMessagesRequest } from './decode-request.ts';
import { encodeMessagesRequest } from './encode-request.ts';
import { MESSAGES_FEATURES } from './features.ts';
import { decodeMessagesAnswer, encodeMessagesAnswer } from './message.ts';
import { createMessagesDecoder } from './stream-decoder.ts';
import { createMessagesEncoder } from './stream-encoder.ts';

/** The Messages protocol to and from the canonical form (contract: Messages protocol). */
export const messagesCodec: CanonicalCodec = {
  id: 'messages',
  features: MESSAGES_FEATURES,
  unshown: new Set(['audio', 'image', 'document']),
  decodeRequest: decodeMessagesRequest,
  encodeRequest: encodeMessagesRequest,
  rawMembers: ['input'],
  decodeAnswer: decodeMessagesAnswer,
  readUsage: readMessagesUsage,
  encodeAnswer: encodeMessagesAnswer,
  createDecoder: createMessagesDecoder,
  createEncoder: createMessagesEncoder,
};
