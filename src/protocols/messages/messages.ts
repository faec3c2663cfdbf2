import { formatSse } from '../../core/sse/frame.ts';
import type { InBandError, StreamCodec, WireProtocol } from '../protocol.ts';
import { replace } from '../media/write-media.ts';
import type { MediaWriter } from '../media/write-media.ts';
import { readMessagesAnswer, readMessagesUsage } from './messages-answer.ts';
import { encodeMessages, peekMessages } from './messages-request.ts';
import { createMessagesStream } from './messages-stream.ts';

const PING = formatSse({ event: 'ping', data: JSON.stringify({ type: 'ping' }) });

/** Turns a source by URL into one in base64. */
const writeMedia: MediaWriter = ({ members, around }, { mediaType, data }) => {
  if (members['type'] !== 'url' || data === undefined) return undefined;
  const { url: _url, ...rest } = members;
  return [replace(around, { ...rest, type: 'base64', media_type: mediaType, data })];
};

/** The Messages protocol (contract: Messages protocol, Events). */
export const messages: WireProtocol & StreamCodec = {
  id: 'messages',
  peek: peekMessages,
  encode: encodeMessages,
  readAnswer: readMessagesAnswer,
  readUsage: readMessagesUsage,
  createStream: createMessagesStream,
  errorFrame: ({ type, message }: InBandError) =>
    formatSse({
      event: 'error',
      data: JSON.stringify({ type: 'error', error: { type, message } }),
    }),
  writeMedia,
  keepAlive: () => PING,
  translatesTo: ['responses', 'generate-content', 'chat'],
};
