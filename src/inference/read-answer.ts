import type { Buffer } from 'node:buffer';
import { finishScan } from '../core/json/json-document.ts';
import { JsonScanner } from '../core/json/scanner.ts';
import type { Usage } from '../core/usage.ts';
import { ANSWER_SCAN, toAnswerDocument } from '../protocols/answer-document.ts';
import type { Answer, AnswerOptions, RequestPeek, Wire } from '../protocols/protocol.ts';

/** Bytes of an answer that are scanned before other work runs. */
const SLICE_BYTES = 256 * 1024;

export interface ReadAnswerOptions {
  readonly wire: Wire;
  readonly peek: RequestPeek;
  readonly answer: AnswerOptions;
  /** Most values of an answer that its wire parses whole (config: limits.answer_values). */
  readonly maxValues: number;
}

/** A 200 that is no answer. */
export interface Discarded {
  readonly type: 'discarded';
  readonly reason: 'too_many_values' | 'invalid_answer';
  readonly usage: Usage | undefined;
}

type Read = Answer | Discarded;

/** Reads a whole answer: a short one at once, a long one in slices between which other work runs. */
export function readAnswer(body: Buffer, options: ReadAnswerOptions): Read | Promise<Read> {
  const { wire, maxValues } = options;
  const values = wire.parsesAnswers ? maxValues : undefined;
  const scanner = new JsonScanner(body, { values, ...ANSWER_SCAN });
  if (scanner.step(SLICE_BYTES)) return readScanned(body, scanner, options);
  return finishScan(scanner).then(() => readScanned(body, scanner, options));
}

function readScanned(
  body: Buffer,
  scanner: JsonScanner,
  { wire, peek, answer }: ReadAnswerOptions,
): Read | Promise<Read> {
  if (scanner.fault === 'values') return discard('too_many_values');
  const document = toAnswerDocument(body, scanner);
  if (!document) return discard('invalid_answer');
  const orDiscard = (read: Answer | undefined): Read =>
    read ?? discard('invalid_answer', wire.readUsage?.(document));
  const read = wire.readAnswer(document, peek, answer);
  return read instanceof Promise ? read.then(orDiscard) : orDiscard(read);
}

function discard(reason: Discarded['reason'], usage?: Usage): Discarded {
  return { type: 'discarded', reason, usage };
}
