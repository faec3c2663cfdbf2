import { STANDARD } from '../family.ts';
import type { Family } from '../family.ts';
import type { ProtocolParts } from '../protocol-parts.ts';
import { responsesCodec } from './codec/responses-codec.ts';
import type { StreamCodec, WireProtocol } from '../protocol.ts';
import { readResponsesAnswer, readResponsesUsage } from './responses-answer.ts';
import { toErrorEvent } from './responses-event.ts';
import { encodeResponses, peekResponses } from './responses-request.ts';
import { createResponsesStream } from './responses-stream.ts';

/** Responses (contract: Responses, Events). */
export const responses: WireProtocol & StreamCodec = {
  id: 'responses',
  peek: peekResponses,
  encode: encodeResponses,
  parsesAnswers: true,
  readAnswer: readResponsesAnswer,
  readUsage: readResponsesUsage,
  createStream: createResponsesStream,
  errorFrame: (error) => toErrorEvent(error, 0),
  translatesTo: ['messages', 'generate-content', 'chat'],
};

/** The contract lists no 404 for it. */
const FAMILY: Family = {
  ...STANDARD,
  unknownModel: 400,
  noRoute: 400,
  refusals: [413],
  denials: [401, 403],
};

export const parts: ProtocolParts = {
  wire: responses,
  codec: responsesCodec,
  surfaces: (protocol) => [
    {
      name: 'responses',
      paths: ['/v1/responses'],
      family: FAMILY,
      protocol,
      repeatable: true,
    },
  ],
};
