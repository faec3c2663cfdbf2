import { Buffer } from 'node:buffer';
import { isJsonObject, parseJsonObject } from '../../core/json-value.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { rewriteModelName } from '../model-member.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { countInputs, readEncoding } from './embeddings-request.ts';
import type { EmbeddingEncoding } from './embeddings-request.ts';
import { isVector, toEncoding } from './vector.ts';
import type { Vector } from './vector.ts';

interface Entry extends Record<string, unknown> {
  embedding: Vector;
}

/**
 * One vector for each input, in input order and in the encoding asked for, whatever the provider
 * sends. An answer that is so already passes as it is. Anything else is not a valid answer.
 */
export function readEmbeddingsAnswer(
  body: Buffer,
  peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined {
  const value = parseJsonObject(body.toString('utf8'));
  const entries = value && entriesOf(value['data']);
  if (!entries || entries.length !== countInputs(peek.json)) return undefined;
  const asked = readEncoding(peek.json.get('encoding_format'));
  const shown = inOrder(entries).map((entry) => encoded(entry, asked));
  const isSame =
    value['object'] === 'list' && shown.every((entry, index) => entry === entries[index]);
  const told = isSame
    ? body
    : Buffer.from(JSON.stringify({ ...value, object: 'list', data: shown }));
  return {
    body: logicalModel === undefined ? told : rewriteModelName(told, logicalModel),
    usage: usageOf(value['usage']),
    outputChars: 0,
  };
}

function entriesOf(data: unknown): Entry[] | undefined {
  if (!Array.isArray(data)) return undefined;
  const isEntry = (entry: unknown): entry is Entry =>
    isJsonObject(entry) && isVector(entry['embedding']);
  return data.every(isEntry) ? data : undefined;
}

/** Providers may answer out of order and say so by `index`; without indexes the order stands. */
function inOrder(entries: Entry[]): Entry[] {
  const indexes = entries.map(({ index }) => index);
  const isPermutation =
    new Set(indexes).size === entries.length &&
    indexes.every(
      (index) => Number.isInteger(index) && Number(index) >= 0 && Number(index) < entries.length,
    );
  if (!isPermutation)
    return entries.map((entry, index) => ({ ...entry, object: 'embedding', index }));
  if (indexes.every((index, position) => index === position)) return entries;
  return entries.toSorted((a, b) => Number(a['index']) - Number(b['index']));
}

function encoded(entry: Entry, asked: EmbeddingEncoding): Entry {
  const embedding = toEncoding(entry.embedding, asked);
  return embedding === entry.embedding ? entry : { ...entry, embedding };
}

function usageOf(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const tokens = [usage['prompt_tokens'], usage['total_tokens']].find(isCount);
  return tokens === undefined ? undefined : { ...NO_USAGE, input: tokens, raw: usage };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
