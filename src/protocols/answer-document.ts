import type { Buffer } from 'node:buffer';
import { JsonDocument } from '../core/json/json-document.ts';
import { JsonScanner } from '../core/json/scanner.ts';
import type { JsonPatch } from '../core/json/splice.ts';
import { applyPatches } from '../core/json/splice.ts';

/** A provider's answer: its bytes, or what a scan made of them. */
export type AnswerSource = Buffer | JsonDocument;

/** Most bytes of a member that describes an answer; a larger one is not read. */
export const MAX_TOLD_BYTES = 64 * 1024;
/** Bounds of the scan of an answer, which is to be passed on as it came. */
export const ANSWER_SCAN = { members: 65_536, depth: Infinity, anyText: true } as const;

/** The answer as a scanned object, else undefined. Invalid UTF-8 is passed on as it came. */
export function answerDocument(source: AnswerSource): JsonDocument | undefined {
  if (source instanceof JsonDocument) return source;
  const scanner = new JsonScanner(source, ANSWER_SCAN);
  scanner.step();
  return toAnswerDocument(source, scanner);
}

/** The same of a scan that is over. */
export function toAnswerDocument(body: Buffer, scanner: JsonScanner): JsonDocument | undefined {
  const isAnswer = scanner.fault === undefined && scanner.isObject;
  return isAnswer ? new JsonDocument(body, scanner, undefined) : undefined;
}

/** True when the member is an object, or an array; it is not parsed. */
export function holds(document: JsonDocument, key: string, kind: '{' | '['): boolean {
  const member = document.find(key);
  return member !== undefined && document.body[member.valueStart] === kind.charCodeAt(0);
}

/** A member that describes the answer, parsed by itself; undefined for one of unlikely size. */
export function told(document: JsonDocument, key: string): unknown {
  const member = document.find(key);
  if (!member || member.valueEnd - member.valueStart > MAX_TOLD_BYTES) return undefined;
  return document.get(key);
}

/** The answer's bytes under another name of the model, where one is given and a member names it. */
export function renamed(
  { body, members }: JsonDocument,
  name: string | undefined,
  key = 'model',
): Buffer {
  if (name === undefined) return body;
  const text = JSON.stringify(name);
  const patches = members
    .filter((member) => member.key === key)
    .map(({ valueStart, valueEnd }): JsonPatch => ({ start: valueStart, end: valueEnd, text }));
  return patches.length === 0 ? body : applyPatches(body, patches);
}
