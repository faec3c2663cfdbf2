import type { Buffer } from 'node:buffer';
import { finishScan } from '../core/json/json-document.ts';
import { JsonScanner } from '../core/json/scanner.ts';
import { ANSWER_SCAN, toAnswerDocument } from '../protocols/answer-document.ts';
import type { Answer, AnswerOptions, RequestPeek, Wire } from '../protocols/protocol.ts';

/** Bytes of an answer that are scanned before others get their turn. */
const SLICE_BYTES = 256 * 1024;

export interface ReadAnswerOptions {
  readonly wire: Wire;
  readonly peek: RequestPeek;
  readonly answer: AnswerOptions;
  /** Most values of an answer that its wire parses whole (config: limits.answer_values). */
  readonly maxValues: number;
}

type Read = Answer | 'too_many_values' | undefined;

/**
 * Reads a whole answer: a short one at once, a long one in slices between which others get their turn.
 * Undefined for what is no valid answer.
 */
export function readAnswer(body: Buffer, options: ReadAnswerOptions): Read | Promise<Read> {
  const { wire, maxValues } = options;
  const scanner = new JsonScanner(body, {
    ...ANSWER_SCAN,
    ...(wire.parsesAnswers && { values: maxValues }),
  });
  if (scanner.step(SLICE_BYTES)) return readScanned(body, scanner, options);
  return finishScan(scanner).then(() => readScanned(body, scanner, options));
}

function readScanned(
  body: Buffer,
  scanner: JsonScanner,
  { wire, peek, answer }: ReadAnswerOptions,
): Read | Promise<Read> {
  if (scanner.fault === 'values') return 'too_many_values';
  const document = toAnswerDocument(body, scanner);
  return document && wire.readAnswer(document, peek, answer);
}
