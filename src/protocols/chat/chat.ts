import { formatSse } from '../../core/sse/frame.ts';
import type { StreamCodec, WireProtocol } from '../protocol.ts';
import { readChatAnswer, readChatUsage } from './chat-answer.ts';
import { encodeChat, peekChat } from './chat-request.ts';
import { createChatStream } from './chat-stream.ts';
import { readToolsRequest } from './tools-request.ts';

/** Chat completions (contract: Chat completions, Events). */
export const chat: WireProtocol & StreamCodec = {
  id: 'chat',
  translatesTo: ['responses', 'generate-content', 'messages'],
  peek: peekChat,
  toolsRequest: readToolsRequest,
  encode: encodeChat,
  readAnswer: readChatAnswer,
  readUsage: readChatUsage,
  createStream: createChatStream,
  errorFrame: ({ message, type, code }) =>
    formatSse({ data: JSON.stringify({ error: { message, type, param: null, code } }) }),
};
