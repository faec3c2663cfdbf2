import { Buffer } from 'node:buffer';
import type { JsonMember } from './json-member.ts';
import { JsonScanner } from './scanner.ts';

/**
 * The members of the JSON object that a text holds, at offsets of its UTF-8 bytes; undefined for any other
 * text. Of use where very many texts are no JSON: each that `JSON.parse` refuses costs as much as ten that it
 * takes.
 */
export function membersOfText(text: string): readonly JsonMember[] | undefined {
  if (!/^[ \t\r\n]*\{/.test(text)) return undefined;
  const scanner = scan(Buffer.from(text));
  return scanner.fault === undefined ? scanner.members : undefined;
}

/** True for the bytes of one JSON value. */
export function isJson(bytes: Buffer): boolean {
  return scan(bytes).fault === undefined;
}

function scan(bytes: Buffer): JsonScanner {
  const scanner = new JsonScanner(bytes, { depth: Infinity, members: Infinity });
  scanner.step();
  return scanner;
}
