import { Buffer } from 'node:buffer';
import type { StreamCodec, WireProtocol } from '../protocol.ts';
import { ElementWriter } from './element-writer.ts';
import { readGenerateContentAnswer, readGenerateContentUsage } from './generate-content-answer.ts';
import {
  encodeGenerateContent,
  isArrayStream,
  peekGenerateContent,
} from './generate-content-request.ts';
import { createGenerateContentStream } from './generate-content-stream.ts';

const BLANK = Buffer.from('\n');
const COMMENT = Buffer.from(': keep-alive\n\n');

/** Generate-content (contract: Generate-content protocol). */
export const generateContent: WireProtocol & StreamCodec = {
  id: 'generate-content',
  peek: peekGenerateContent,
  encode: encodeGenerateContent,
  readAnswer: readGenerateContentAnswer,
  readUsage: readGenerateContentUsage,
  createStream: createGenerateContentStream,
  errorFrame: (error, peek) => new ElementWriter(peek).failure(error),
  keepAlive: (peek) => (isArrayStream(peek) ? BLANK : COMMENT),
  translatesTo: ['responses', 'messages', 'chat'],
  translatedWhenMapped: true,
};
