import { isAscii } from 'node:buffer';
import type { Buffer } from 'node:buffer';
import type { Steps } from '../turns/in-turns.ts';
import { BACKSLASH } from './byte-classes.ts';

/** Bytes of the longest escape. */
const ESCAPE = 6;
const SMALL_U = 117;

/**
 * The string between two quotes of a document that was scanned, decoded in steps.
 *
 * @param pieceBytes of one step
 */
export function* textSteps(
  body: Buffer,
  { start, end }: { start: number; end: number },
  pieceBytes: number,
): Steps<string> {
  const last = end - 1;
  let text = '';
  for (let at = start + 1; at < last;) {
    const to = at + pieceBytes < last ? cutOf(body, at, at + pieceBytes) : last;
    text += decodePiece(body.subarray(at, to));
    at = to;
    yield;
  }
  return text;
}

function decodePiece(piece: Buffer): string {
  const text = piece.toString(isAscii(piece) ? 'latin1' : 'utf8');
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** The end of a piece, inside no character and no escape. */
function cutOf(body: Buffer, from: number, about: number): number {
  let to = about;
  const isNear = body.subarray(to - ESCAPE, to).includes(BACKSLASH);
  if (isNear) {
    let at = from;
    while (at < to) at += body[at] === BACKSLASH ? escapeLength(body, at) : 1;
    to = at;
  }
  return to - bytesBefore(body, to);
}

/** Bytes before `at` of the character to which the byte at `at` belongs. */
function bytesBefore(body: Buffer, at: number): number {
  for (let back = 0; back < 4; back++) {
    const byte = body[at - back] as number;
    if (byte >= 0xc0) return back;
    if (byte < 0x80) break;
  }
  return 0;
}

function escapeLength(body: Buffer, at: number): number {
  return body[at + 1] === SMALL_U ? ESCAPE : 2;
}
