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
