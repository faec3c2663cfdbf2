import { googleStatus } from '../google-status.ts';
import { formatSse } from '../../core/sse/frame.ts';
import { told } from '../answer-document.ts';
import { forwardBody } from '../forward-body.ts';
import type { StreamCodec, WireProtocol } from '../protocol.ts';
import { readInteractionsAnswer } from './interactions-answer.ts';
import { rename, withType } from '../media/write-media.ts';
import type { MediaWriter } from '../media/write-media.ts';
import { peekInteractions } from './interactions-request.ts';
import { createInteractionsStream } from './interactions-stream.ts';
import { toInteractionUsage } from './interactions-usage.ts';

/** Turns `uri` into `data`, or its value into a link. */
const writeMedia: MediaWriter = (spot, { mediaType, data, link }) => {
  if (spot.name !== 'uri') return undefined;
  const typed = withType(spot, { value: data ?? link, member: 'mime_type', mediaType });
  return data === undefined ? [typed] : [...rename(spot.place, 'data'), typed];
};

/** Interactions (contract: Interactions protocol): native only, never translated. */
export const interactions: WireProtocol & StreamCodec = {
  id: 'interactions',
  peek: peekInteractions,
  encode: forwardBody,
  parsesAnswers: true,
  readAnswer: readInteractionsAnswer,
  readUsage: (document) => toInteractionUsage(told(document, 'usage')),
  createStream: createInteractionsStream,
  writeMedia,
  errorFrame({ status, message }) {
    const error = { code: googleStatus(status), message };
    return formatSse({ event: 'error', data: JSON.stringify({ event_type: 'error', error }) });
  },
};
