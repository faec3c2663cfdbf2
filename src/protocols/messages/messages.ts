import { formatSse } from '../../core/sse/frame.ts';
import type { InBandError, StreamCodec, WireProtocol } from '../protocol.ts';
import { readMessagesAnswer, readMessagesUsage } from './messages-answer.ts';
import { encodeMessages, peekMessages } from './messages-request.ts';
import { createMessagesStream } from './messages-stream.ts';

const PING = formatSse({ event: 'ping', data: JSON.stringify({ type: 'ping' }) });

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
  keepAlive: () => PING,
  translatesTo: ['responses', 'generate-content', 'chat'],
};
