import { Buffer } from 'node:buffer';
import type { StreamCodec, WireProtocol } from '../protocol.ts';
import { ElementWriter } from './element-writer.ts';
import { readGenerateContentAnswer, readGenerateContentUsage } from './generate-content-answer.ts';
import {
  encodeGenerateContent,
  isArrayStream,
  peekGenerateContent,
} from './generate-content-request.ts';
import { rename, replace, withType } from '../media/write-media.ts';
import type { MediaWriter } from '../media/write-media.ts';
import { createGenerateContentStream } from './generate-content-stream.ts';

const BLANK = Buffer.from('\n');
/** Nothing between two frames: official clients take a comment for an answer that is not JSON. */
const NO_FRAME = Buffer.from('\n\n');

/** Turns `fileData` into `inlineData`, or its URI into a link. */
const writeMedia: MediaWriter = (spot, { mediaType, data, link }) => {
  const { name, around } = spot;
  if (name !== 'fileUri' && name !== 'file_uri') return undefined;
  if (data !== undefined)
    return [...rename(around, 'inlineData'), replace(around, { mimeType: mediaType, data })];
  const member = name === 'fileUri' ? 'mimeType' : 'mime_type';
  return [withType(spot, { value: link, member, mediaType })];
};

/** Generate-content (contract: Generate-content protocol). */
export const generateContent: WireProtocol & StreamCodec = {
  id: 'generate-content',
  peek: peekGenerateContent,
  encode: encodeGenerateContent,
  readAnswer: readGenerateContentAnswer,
  readUsage: readGenerateContentUsage,
  createStream: createGenerateContentStream,
  errorFrame: (error, peek) => new ElementWriter(peek).failure(error),
  keepAlive: (peek) => (isArrayStream(peek) ? BLANK : NO_FRAME),
  translatesTo: ['responses', 'messages', 'chat'],
  translatedWhenMapped: true,
  bareNames: true,
  writeMedia,
};
