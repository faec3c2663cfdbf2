import { Buffer } from 'node:buffer';

/** Offsets in longer texts are left out: the text that is kept for them must be bounded. */
const MAX_KEPT_CHARS = 1024 * 1024;
// eslint-disable-next-line no-control-regex -- every character of one byte
const ASCII = /^[\u0000-\u007f]*/;

/**
 * Turns offsets in characters (UTF-16) of a growing text into offsets in bytes (UTF-8) and back.
 * Keeps the text from its first character of more than one byte on.
 */
export class TextOffsets {
  #plain = 0;
  #rest = '';

  add(text: string): void {
    if (this.#rest !== '') {
      if (this.#rest.length <= MAX_KEPT_CHARS) this.#rest += text;
      return;
    }
    const plain = (ASCII.exec(text) as RegExpExecArray)[0].length;
    this.#plain += plain;
    this.#rest = text.slice(plain);
  }

  /** Undefined where it is no longer known. */
  toBytes(chars: number): number | undefined {
    const beyond = chars - this.#plain;
    if (beyond <= 0) return chars;
    if (this.#rest.length > MAX_KEPT_CHARS) return undefined;
    return this.#plain + Buffer.byteLength(this.#rest.slice(0, beyond));
  }

  /** Undefined where it is no longer known. */
  toChars(bytes: number): number | undefined {
    const beyond = bytes - this.#plain;
    if (beyond <= 0) return bytes;
    if (this.#rest.length > MAX_KEPT_CHARS) return undefined;
    return this.#plain + Buffer.from(this.#rest).toString('utf8', 0, beyond).length;
  }
}
