import { Buffer } from 'node:buffer';
import { isJsonObject } from '../../core/json/value.ts';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { answerDocument, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import type { Answer, EncodeOptions, RequestPeek, WireProtocol } from '../protocol.ts';
import { encodeMessages, peekConversation } from './messages-request.ts';

const BYTES_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;
/** Tokens of a picture of usual size, and of a document of a few pages. */
const TOKENS_PER_MEDIA: ReadonlyMap<unknown, number> = new Map([
  ['image', 1600],
  ['document', 5000],
]);

/** `POST /v1/messages/count_tokens`: the provider's count, or an estimate where none can count. */
export const countTokens: WireProtocol = {
  id: 'messages',
  peek: (source) => ({ ...peekConversation(source), operation: 'count_tokens' }),
  encode: encodeCount,
  readAnswer: readCount,
  answerLocally: ({ json }) =>
    Buffer.from(JSON.stringify({ input_tokens: estimateTokens(json.value) })),
};

/** Encodes a request for a count. Members that providers are sent by default are about answers. */
function encodeCount(peek: RequestPeek, options: EncodeOptions): Buffer | SpooledBody {
  const { quirks } = options;
  return encodeMessages(peek, { ...options, quirks: quirks && { ...quirks, default: {} } });
}

function readCount(source: AnswerSource): Answer | undefined {
  const document = answerDocument(source);
  const count = document && told(document, 'input_tokens');
  const isCount = typeof count === 'number' && Number.isSafeInteger(count) && count >= 0;
  return document && isCount
    ? { body: document.body, usage: undefined, outputChars: 0 }
    : undefined;
}

function estimateTokens({ system, messages, tools }: Readonly<Record<string, unknown>>): number {
  const turns = Array.isArray(messages) ? messages.length : 0;
  const described = tools === undefined ? 0 : Buffer.byteLength(JSON.stringify(tools));
  const told = bytesOfText(system) + bytesOfText(messages) + described;
  return Math.ceil(told / BYTES_PER_TOKEN) + turns * TOKENS_PER_MESSAGE;
}

/** Bytes of all texts inside; pictures and documents count as so many bytes of text. */
function bytesOfText(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + bytesOfText(one), 0);
  if (!isJsonObject(value)) return 0;
  const media = TOKENS_PER_MEDIA.get(value['type']);
  if (media !== undefined && !isText(value['source'])) return media * BYTES_PER_TOKEN;
  return Object.entries(value).reduce(
    (sum, [name, one]) => (STRUCTURE.has(name) ? sum : sum + bytesOfText(one)),
    0,
  );
}

/** Members that describe a value and are no content. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'tool_use_id',
  'signature',
  'cache_control',
  'media_type',
]);

function isText(source: unknown): boolean {
  return isJsonObject(source) && (source['type'] === 'text' || source['type'] === 'content');
}
