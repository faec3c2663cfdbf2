import { Buffer } from 'node:buffer';
import { isJsonObject } from '../../core/json/value.ts';
import { answerDocument, told } from '../answer-document.ts';
import type { WireProtocol } from '../protocol.ts';
import { checkFields, expectKind } from './check-fields.ts';
import { encodeGenerateContent, peekGenerateContent } from './generate-content-request.ts';
import { fieldOf, membersOf, pickFields } from './fields.ts';

/** Characters of usual text in one token, and the least tokens of one picture or file. */
const CHARS_PER_TOKEN = 4;
const TOKENS_PER_MEDIA = 258;

/**
 * `:countTokens` (contract: Generate-content protocol): the provider's count, or an estimate where no
 * candidate gives one. Takes `contents` or a whole `generateContentRequest`.
 */
export const countTokens: WireProtocol = {
  id: 'generate-content',
  bareNames: true,
  peek(source, address) {
    const peek = peekGenerateContent(source, address);
    const inner = pickFields(peek.json, ['generateContentRequest']);
    expectKind(fieldOf(inner, 'generateContentRequest'), 'object', 'generateContentRequest');
    checkFields(membersOf(inner, 'generateContentRequest'));
    return peek;
  },
  encode: encodeGenerateContent,
  readAnswer(source) {
    const document = answerDocument(source);
    if (!document || typeof told(document, 'totalTokens') !== 'number') return undefined;
    return { body: document.body, usage: undefined, outputChars: 0 };
  },
  answerLocally: ({ json }) => Buffer.from(JSON.stringify({ totalTokens: estimate(json.value) })),
};

function estimate(request: Readonly<Record<string, unknown>>): number {
  const inner = fieldOf(request, 'generateContentRequest');
  const { characters, media } = sizeOf(isJsonObject(inner) ? inner : request);
  return Math.ceil(characters / CHARS_PER_TOKEN) + media * TOKENS_PER_MEDIA;
}

const NOT_PROMPT = new Set(['role', 'model', 'generationConfig', 'generation_config']);
const MEDIA = new Set(['inlineData', 'inline_data', 'fileData', 'file_data']);

/** Counts the characters of texts, and the pictures and files. */
function sizeOf(value: unknown): { characters: number; media: number } {
  if (typeof value === 'string') return { characters: value.length, media: 0 };
  if (typeof value !== 'object' || value === null) return { characters: 0, media: 0 };
  const sum = { characters: 0, media: 0 };
  for (const [name, child] of Object.entries(value)) {
    if (NOT_PROMPT.has(name)) continue;
    if (MEDIA.has(name)) {
      sum.media++;
      continue;
    }
    const { characters, media } = sizeOf(child);
    sum.characters += characters;
    sum.media += media;
  }
  return sum;
}
