import type { CanonicalCodec } from '../../canonical/codec.ts';
import { readResponsesUsage } from '../responses-answer.ts';
import { readResponsesAnswer } from './read-answer.ts';
import { readResponsesRequest } from './read-request.ts';
import { RESPONSES_FEATURES } from './responses-features.ts';
import { createResponsesDecoder } from './stream-decoder.ts';
import { createResponsesEncoder, writeResponsesAnswer } from './write-answer.ts';
import { writeResponsesRequest } from './write-request.ts';

/** Responses to and from the canonical form (requirement routing.translation.pairs). */
export const responsesCodec: CanonicalCodec = {
  id: 'responses',
  features: RESPONSES_FEATURES,
  repeatsRequest: true,
  unshown: new Set(['audio', 'document']),
  decodeRequest: readResponsesRequest,
  encodeRequest: writeResponsesRequest,
  decodeAnswer: readResponsesAnswer,
  readUsage: readResponsesUsage,
  encodeAnswer: writeResponsesAnswer,
  createDecoder: createResponsesDecoder,
  createEncoder: createResponsesEncoder,
};
