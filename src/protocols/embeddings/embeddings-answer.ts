import { Buffer } from 'node:buffer';
import { inTurns } from '../../core/turns/in-turns.ts';
import { elementsOf } from '../../core/json/elements.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { spliceJson } from '../../core/json/splice.ts';
import type { JsonEdit } from '../../core/json/splice.ts';
import { isJsonObject, parseJsonObject } from '../../core/json/value.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { answerDocument, holds, renamed, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { countInputs, readEncoding } from './embeddings-request.ts';
import type { EmbeddingEncoding } from './embeddings-request.ts';
import { isVector, toEncoding } from './vector.ts';

/** Bytes of entries that are read before the walk may yield. */
const SLICE_BYTES = 256 * 1024;

/** One vector as it is shown. */
interface Shown {
  readonly index: unknown;
  /** The entry, in the encoding asked for. */
  readonly json: Buffer;
  /** True where the entry is as it came. */
  readonly isSame: boolean;
}

/**
 * One vector for each input, in input order and in the encoding asked for, whatever the provider
 * sends. An answer that is so already passes as it is. Anything else is not a valid answer.
 */
export function readEmbeddingsAnswer(
  source: AnswerSource,
  peek: RequestPeek,
  options: AnswerOptions,
): Answer | undefined | Promise<Answer | undefined> {
  const document = answerDocument(source);
  return document && inTurns(readInSteps(document, peek, options));
}

/** Usage of an answer, whether it can be used or not. */
export function readEmbeddingsUsage(document: JsonDocument): Usage | undefined {
  const usage = told(document, 'usage');
  if (!isJsonObject(usage)) return undefined;
  const tokens = [usage['prompt_tokens'], usage['total_tokens']].find(isCount);
  return tokens === undefined ? undefined : { ...NO_USAGE, input: tokens, raw: usage };
}

function* readInSteps(
  document: JsonDocument,
  { json: asking }: RequestPeek,
  { logicalModel }: AnswerOptions,
): Generator<void, Answer | undefined> {
  const asked = readEncoding(asking.get('encoding_format'));
  const entries = yield* readEntries(document, asked);
  if (!entries || entries.length !== countInputs(asking)) return undefined;
  const { list, isMoved } = inOrder(entries);
  const isSame =
    !isMoved && told(document, 'object') === 'list' && list.every((entry) => entry.isSame);
  const usage = readEmbeddingsUsage(document);
  if (isSame) return { body: renamed(document, logicalModel), usage, outputChars: 0 };
  const edits: JsonEdit[] = [
    { op: 'set', key: 'object', json: '"list"' },
    { op: 'set', key: 'data', json: `[${list.map(({ json }) => json.toString()).join(',')}]` },
  ];
  if (logicalModel !== undefined && document.find('model'))
    edits.push({ op: 'set', key: 'model', json: JSON.stringify(logicalModel) });
  const body = spliceJson(document.body, document.members, edits);
  return { body, usage, outputChars: 0 };
}

/** Undefined when one of them is no vector. */
function* readEntries(
  document: JsonDocument,
  asked: EmbeddingEncoding,
): Generator<void, Shown[] | undefined> {
  const data = document.find('data');
  if (!data || !holds(document, 'data', '[')) return undefined;
  const { body } = document;
  const entries: Shown[] = [];
  let read = 0;
  for (const [start, end] of elementsOf(body, data.valueStart)) {
    const json = body.subarray(start, end);
    const entry = parseJsonObject(json.toString());
    if (!entry || !isVector(entry['embedding'])) return undefined;
    const embedding = toEncoding(entry['embedding'], asked);
    const isSame = embedding === entry['embedding'];
    const shown = isSame ? json : Buffer.from(JSON.stringify({ ...entry, embedding }));
    entries.push({ index: entry['index'], json: shown, isSame });
    read += json.length;
    if (read < SLICE_BYTES) continue;
    read = 0;
    yield;
  }
  return entries;
}

/** Providers may answer out of order and say so by `index`; without indexes the order is kept. */
function inOrder(entries: Shown[]): { list: Shown[]; isMoved: boolean } {
  const isPermutation =
    new Set(entries.map(({ index }) => index)).size === entries.length &&
    entries.every(({ index }) => Number.isInteger(index) && Number(index) >= 0) &&
    entries.every(({ index }) => Number(index) < entries.length);
  if (!isPermutation) return { list: entries.map(numbered), isMoved: true };
  if (entries.every(({ index }, position) => index === position))
    return { list: entries, isMoved: false };
  return { list: entries.toSorted((a, b) => Number(a.index) - Number(b.index)), isMoved: true };
}

function numbered({ json, isSame }: Shown, index: number): Shown {
  const entry = { ...parseJsonObject(json.toString()), object: 'embedding', index };
  return { index, json: Buffer.from(JSON.stringify(entry)), isSame };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
