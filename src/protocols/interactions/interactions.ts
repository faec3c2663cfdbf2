import { googleStatus } from '../../core/google-status.ts';
import { formatSse } from '../../core/sse-frame.ts';
import { forwardBody } from '../forward-body.ts';
import type { StreamCodec, WireProtocol } from '../protocol.ts';
import { readInteractionsAnswer } from './interactions-answer.ts';
import { peekInteractions } from './interactions-request.ts';
import { createInteractionsStream } from './interactions-stream.ts';

/** Interactions (contract: Interactions protocol): native only, never translated. */
export const interactions: WireProtocol & StreamCodec = {
  id: 'interactions',
  peek: peekInteractions,
  encode: forwardBody,
  parsesAnswers: true,
  readAnswer: readInteractionsAnswer,
  createStream: createInteractionsStream,
  errorFrame({ status, message }) {
    const error = { code: googleStatus(status), message };
    return formatSse({ event: 'error', data: JSON.stringify({ event_type: 'error', error }) });
  },
};
