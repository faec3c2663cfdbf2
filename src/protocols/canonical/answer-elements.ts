import type { Buffer } from 'node:buffer';
import { inTurns } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import { OPEN_BRACE, OPEN_BRACKET } from '../../core/json/byte-classes.ts';
import { elementsOf, membersAt } from '../../core/json/elements.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import type { JsonMember } from '../../core/json/json-member.ts';
import { readValue } from '../../core/json/read-places.ts';
import { JsonScanner } from '../../core/json/scanner.ts';
import {
  ANSWER_SCAN,
  answerDocument,
  holds,
  MAX_TOLD_BYTES,
  toAnswerDocument,
} from '../answer-document.ts';
import type { Members } from '../json-fields.ts';

/** Bytes that are read before the walk may yield. */
const SLICE_BYTES = 256 * 1024;

/** The elements of which a valid answer has at least one. */
export interface Elements {
  /** Name of their array. */
  readonly key: string;
  /** Judges an element by an outline of its members: objects and arrays come empty. */
  isUsable(outline: Members): boolean;
}

/**
 * Reads an answer whose array holds an object that can be used; undefined for any other one.
 * Nothing large is parsed to know it, and a long array is walked in slices.
 */
export function ifSome<T>(
  document: JsonDocument,
  elements: Elements,
  read: () => T,
): T | undefined | Promise<T | undefined> {
  const has = someElement(document, elements);
  if (has instanceof Promise) return has.then((found) => (found ? read() : undefined));
  return has ? read() : undefined;
}

function someElement(
  document: JsonDocument,
  { key, isUsable }: Elements,
): boolean | Promise<boolean> {
  const member = document.find(key);
  if (!member || !holds(document, key, '[')) return false;
  const { body } = document;
  const { valueStart, valueEnd } = member;
  if (valueEnd - valueStart > SLICE_BYTES)
    return inTurns(someOfLong(body.subarray(valueStart, valueEnd), isUsable));
  for (const [start] of elementsOf(body, valueStart)) {
    const isObject = body[start] === OPEN_BRACE;
    if (isObject && isUsable(outlineOf(body, membersAt(body, start)))) return true;
  }
  return false;
}

function* someOfLong(list: Buffer, isUsable: Elements['isUsable']): Steps<boolean> {
  const only = yield* onlyElement(list);
  if (only) return isUsable(outlineOf(only.body, only.members));
  let read = 0;
  for (const [start, end] of elementsOf(list, 0)) {
    const element = answerDocument(list.subarray(start, end));
    if (element && isUsable(outlineOf(element.body, element.members))) return true;
    if (end - read < SLICE_BYTES) continue;
    read = end;
    yield;
  }
  return false;
}

/** The object that is all of the list, scanned in slices; undefined for other lists. */
function* onlyElement(list: Buffer): Steps<JsonDocument | undefined> {
  const inner = list.subarray(1, -1);
  const scanner = new JsonScanner(inner, ANSWER_SCAN);
  while (!scanner.step(SLICE_BYTES)) yield;
  return toAnswerDocument(inner, scanner);
}

function outlineOf(body: Buffer, members: readonly JsonMember[]): Members {
  const outline: Record<string, unknown> = {};
  for (const member of members) {
    // A member of that name would be taken for the prototype, and none of a provider's counts.
    if (member.key !== '__proto__') outline[member.key] = outlineOfValue(body, member);
  }
  return outline;
}

function outlineOfValue(body: Buffer, { valueStart, valueEnd }: JsonMember): unknown {
  const first = body[valueStart];
  if (first === OPEN_BRACE) return {};
  if (first === OPEN_BRACKET) return [];
  return valueEnd - valueStart > MAX_TOLD_BYTES ? undefined : readValue(body, valueStart, valueEnd);
}
