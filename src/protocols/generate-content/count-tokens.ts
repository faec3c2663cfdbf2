import { Buffer } from 'node:buffer';
import { scanJson } from '../../core/json/json-document.ts';
import type { ScannedMember } from '../../core/json/json-member.ts';
import { spliceJson } from '../../core/json/splice.ts';
import type { JsonEdit } from '../../core/json/splice.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { answerDocument, told } from '../answer-document.ts';
import type { EncodeOptions, RequestPeek, WireProtocol } from '../protocol.ts';
import { checkFields, expectKind } from './check-fields.ts';
import { encodeGenerateContent, peekGenerateContent } from './generate-content-request.ts';
import { fieldOf, membersOf, pickFields, toSnake } from './fields.ts';

/** Member that holds a whole request in place of its contents. */
const INNER = 'generateContentRequest';
/** Characters of usual text in one token, and the least tokens of one picture or file. */
const CHARS_PER_TOKEN = 4;
const TOKENS_PER_MEDIA = 258;

/**
 * `:countTokens` (contract: Generate-content protocol): the provider's count, or an estimate where
 * no candidate gives one. Takes `contents` or a whole `generateContentRequest`.
 */
export const countTokens: WireProtocol = {
  id: 'generate-content',
  bareNames: true,
  peek(source, address) {
    const peek = peekGenerateContent(source, address);
    const inner = pickFields(peek.json, [INNER]);
    expectKind(fieldOf(inner, INNER), 'object', INNER);
    checkFields(membersOf(inner, INNER));
    return peek;
  },
  encode: (peek, options) => encodeGenerateContent(peek, options, innerModel(peek, options)),
  readAnswer(source) {
    const document = answerDocument(source);
    if (!document || typeof told(document, 'totalTokens') !== 'number') return undefined;
    return { body: document.body, usage: undefined, outputChars: 0 };
  },
  answerLocally: ({ json }) => Buffer.from(JSON.stringify({ totalTokens: estimate(json.value) })),
};

/** Edits that replace the model's name in an inner request with the provider's name. */
function innerModel({ body, json }: RequestPeek, { model }: EncodeOptions): JsonEdit[] {
  const name = JSON.stringify(`models/${model}`);
  return [INNER, toSnake(INNER)].flatMap((key): JsonEdit[] => {
    if (json.kindOf(key) !== 'object') return [];
    const { valueStart, valueEnd } = json.find(key) as ScannedMember;
    const inner = scanJson(body.subarray(valueStart, valueEnd));
    if (!inner.find('model')) return [];
    const edit = { op: 'set', key: 'model', json: name } as const;
    return [{ op: 'set', key, json: spliceJson(inner.body, inner.members, [edit]).toString() }];
  });
}

function estimate(request: Readonly<Record<string, unknown>>): number {
  const inner = fieldOf(request, INNER);
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
