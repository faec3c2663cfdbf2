import type { CanonicalCodec } from '../../canonical/codec.ts';
import { readGenerateContentUsage } from '../generate-content-answer.ts';
import { createGenerateContentDecoder } from './generate-content-decoder.ts';
import { createGenerateContentEncoder } from './generate-content-encoder.ts';
import { GENERATE_CONTENT_FEATURES } from './generate-content-features.ts';
import { RAW_MEMBERS } from './read-part.ts';
import { readGenerateContentAnswer } from './answer/read-answer.ts';
import { readGenerateContentRequest } from './read-request.ts';
import { refuseUntranslatable } from './refuse-untranslatable.ts';
import { writeGenerateContentAnswer } from './answer/write-answer.ts';
import { writeGenerateContentRequest } from './write-request.ts';

/**
 * Generate-content to and from the canonical form. Requests of clients are refused where the
 * contract says so, whatever the canonical form could carry (contract: Generate-content protocol).
 */
export const generateContentCodec: CanonicalCodec = {
  id: 'generate-content',
  features: GENERATE_CONTENT_FEATURES,
  *decodeRequest(peek) {
    yield* refuseUntranslatable(peek.json.value);
    return yield* readGenerateContentRequest(peek);
  },
  encodeRequest: writeGenerateContentRequest,
  rawMembers: RAW_MEMBERS,
  decodeAnswer: readGenerateContentAnswer,
  readUsage: readGenerateContentUsage,
  encodeAnswer: writeGenerateContentAnswer,
  createDecoder: createGenerateContentDecoder,
  createEncoder: createGenerateContentEncoder,
};
