import { Buffer } from 'node:buffer';
import { protocolError } from './to-upstream-error.ts';

const LF = 0x0a;
const CR = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;
const DELETE = 0x7f;
const OPENING = Buffer.from('HTTP/1.');

/**
 * Finds the empty line that ends a head, however the head is cut into pieces. Lines must end with
 * CRLF: a lone CR or LF, which parsers read differently, is refused as is any control but tab.
 */
export class HeadScanner {
  #scanned = 0;
  #lineStart = 0;

  /**
   * Returns the index after the empty line of the head that begins at `start`, or -1 when it is not
   * complete; call again with the same bytes and more. Throws `UpstreamError` of kind `protocol`,
   * already for a first few bytes that do not begin an answer.
   */
  scan(bytes: Buffer, start: number, end: number): number {
    const opening = Math.min(OPENING.length, end - start);
    if (OPENING.compare(bytes, start, start + opening, 0, opening) !== 0) {
      throw protocolError('bad status line');
    }
    for (let at = start + this.#scanned; at < end; at++) {
      const byte = bytes[at] as number;
      if ((byte >= SPACE && byte !== DELETE) || byte === TAB) continue;
      if (byte !== CR) throw protocolError('control character in the head');
      if (at + 1 === end) return this.#incomplete(at - start);
      if (bytes[++at] !== LF) throw protocolError('lone CR in the head');
      if (at - 1 - start === this.#lineStart) {
        this.#scanned = this.#lineStart = 0;
        return at + 1;
      }
      this.#lineStart = at + 1 - start;
    }
    return this.#incomplete(end - start);
  }

  #incomplete(scanned: number): number {
    this.#scanned = scanned;
    return -1;
  }
}
