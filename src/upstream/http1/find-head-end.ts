import type { Buffer } from 'node:buffer';
import { protocolError } from './to-upstream-error.ts';

const LF = 0x0a;
const CR = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;
const DELETE = 0x7f;
const OPENING = 'HTTP/1.';

/**
 * The index after the empty line that ends the head which begins at `start`, or -1 when that line
 * has not come. `from` is where to look from: all up to `from` was looked at before and ends with no
 * CR. Lines must end with CRLF: a lone CR or LF, which parsers read differently, is refused as is
 * any control but tab. Throws `UpstreamError` of kind `protocol`.
 */
export function findHeadEnd(
  bytes: Buffer,
  { start, from, end }: { start: number; from: number; end: number },
): number {
  for (let at = from; at < end; at++) {
    const byte = bytes[at] as number;
    if ((byte >= SPACE && byte !== DELETE) || byte === TAB) continue;
    if (byte !== CR) throw protocolError('control character in the head');
    if (at + 1 === end) return -1;
    if (bytes[at + 1] !== LF) throw protocolError('lone CR in the head');
    if (at === start || bytes[at - 1] === LF) return at + 2;
    at += 1;
  }
  return -1;
}

/** Refuses data that does not begin like an answer at its first few bytes, instead of awaiting its end. */
export function checkOpening(bytes: Buffer, start: number, end: number): void {
  const opening = bytes.toString('latin1', start, Math.min(end, start + OPENING.length));
  if (!OPENING.startsWith(opening)) throw protocolError('bad status line');
}
