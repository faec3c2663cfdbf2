import { googleStatus } from '../../core/google-status.ts';
import { formatSse } from '../../core/sse/frame.ts';
import { told } from '../answer-document.ts';
import { forwardBody } from '../forward-body.ts';
import type { StreamCodec, WireProtocol } from '../protocol.ts';
import { readInteractionsAnswer } from './interactions-answer.ts';
import { peekInteractions } from './interactions-request.ts';
import { createInteractionsStream } from './interactions-stream.ts';
import { toInteractionUsage } from './interactions-usage.ts';

/** Interactions (contract: Interactions protocol): native only, never translated. */
export const interactions: WireProtocol & StreamCodec = {
  id: 'interactions',
  peek: peekInteractions,
  encode: forwardBody,
  parsesAnswers: true,
  readAnswer: readInteractionsAnswer,
  readUsage: (document) => toInteractionUsage(told(document, 'usage')),
  createStream: createInteractionsStream,
  errorFrame({ status, message }) {
    const error = { code: googleStatus(status), message };
    return formatSse({ event: 'error', data: JSON.stringify({ event_type: 'error', error }) });
  },
};
