import type { Buffer } from 'node:buffer';
import { elementsOf } from '../../core/json/elements.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { JsonScanner } from '../../core/json/scanner.ts';
import { ANSWER_SCAN, answerDocument, holds, toAnswerDocument, told } from '../answer-document.ts';
import type { Members } from '../json-fields.ts';

/** Bytes that are read before others get their turn. */
const SLICE_BYTES = 256 * 1024;

/**
 * True when the array of that name holds an object that can be used. Elements are judged by an outline
 * of their members: objects and arrays come empty, so that nothing large is parsed.
 */
export function* someElement(
  document: JsonDocument,
  key: string,
  isUsable: (outline: Members) => boolean,
): Generator<void, boolean> {
  const member = document.find(key);
  if (!member || !holds(document, key, '[')) return false;
  const list = document.body.subarray(member.valueStart, member.valueEnd);
  const only = yield* onlyElement(list);
  if (only) return isUsable(outlineOf(only));
  let read = 0;
  for (const [start, end] of elementsOf(list, 0)) {
    const element = answerDocument(list.subarray(start, end));
    if (element && isUsable(outlineOf(element))) return true;
    if (end - read < SLICE_BYTES) continue;
    read = end;
    yield;
  }
  return false;
}

/** The object that is all of the list, scanned in slices; undefined for other lists. */
function* onlyElement(list: Buffer): Generator<void, JsonDocument | undefined> {
  const inner = list.subarray(1, -1);
  const scanner = new JsonScanner(inner, ANSWER_SCAN);
  while (!scanner.step(SLICE_BYTES)) yield;
  return toAnswerDocument(inner, scanner);
}

function outlineOf(element: JsonDocument): Members {
  const outline = element.members.map(({ key }) => {
    const kind = element.kindOf(key);
    if (kind === 'object') return [key, {}];
    return [key, kind === 'array' ? [] : told(element, key)];
  });
  return Object.fromEntries(outline) as Members;
}
