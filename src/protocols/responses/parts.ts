import type { InferenceSurface } from '../surface.ts';
import { STANDARD } from '../family.ts';
import type { Family } from '../family.ts';
import type { ProtocolParts } from '../protocol-parts.ts';
import { responsesCodec } from './codec/responses-codec.ts';
import type { StreamCodec, WireProtocol } from '../protocol.ts';
import { readResponsesAnswer, readResponsesUsage } from './responses-answer.ts';
import { toErrorEvent } from './responses-event.ts';
import { encodeResponses, peekResponses } from './responses-request.ts';
import { createResponsesStream } from './responses-stream.ts';
import {
  addressOfStored,
  compact,
  deletedResponse,
  inputItems,
  inputTokens,
  storedResponse,
} from './stored-responses.ts';

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

const PATH = '/v1/responses';
/** What a provider keeps may be gone, or in no state for it. */
const STORED: Family = { ...FAMILY, unknownModel: 404, refusals: [404, 409, 413] };

/** Endpoint about a Response that its provider keeps. */
function ofStored(
  name: string,
  path: string,
  { method, use, protocol }: Required<Pick<InferenceSurface, 'method' | 'use' | 'protocol'>>,
): InferenceSurface {
  return {
    name: `responses.${name}`,
    paths: [`${PATH}/:id${path}`],
    method,
    use,
    family: STORED,
    protocol,
    repeatable: true,
    free: true,
    address: (sent, search) => addressOfStored(method, sent, search),
  };
}

const common = { family: FAMILY, repeatable: true } as const;

export const parts: ProtocolParts = {
  wire: responses,
  codec: responsesCodec,
  surfaces: (protocol) => [
    { ...common, name: 'responses', paths: [PATH], protocol },
    {
      ...common,
      name: 'responses.input_tokens',
      paths: [`${PATH}/input_tokens`],
      protocol: inputTokens,
      free: true,
    },
    { ...common, name: 'responses.compact', paths: [`${PATH}/compact`], protocol: compact },
    ofStored('get', '', { method: 'GET', use: 'content', protocol: storedResponse }),
    ofStored('delete', '', { method: 'DELETE', use: 'write', protocol: deletedResponse }),
    ofStored('cancel', '/cancel', { method: 'POST', use: 'call', protocol: storedResponse }),
    ofStored('input_items', '/input_items', {
      method: 'GET',
      use: 'content',
      protocol: inputItems,
    }),
  ],
};
