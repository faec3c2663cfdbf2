import type { Buffer } from 'node:buffer';
import { BACKSLASH } from './byte-classes.ts';

const SMALL_U = 117;

/**
 * Beginnings of texts and names that a scan looks out for; ASCII without quotes, slashes and backslashes, at
 * most 31.
 */
export class Marks {
  readonly #texts: readonly string[];
  /** 1 for the first byte of a mark and for a backslash. */
  readonly #first = new Uint8Array(256);

  constructor(texts: readonly string[]) {
    this.#texts = texts;
    if (texts.length > 0) this.#first[BACKSLASH] = 1;
    for (const text of texts) this.#first[text.charCodeAt(0)] = 1;
  }

  /** The bit of a mark; 0 for any other text. */
  bitOf(mark: string): number {
    const index = this.#texts.indexOf(mark);
    return index < 0 ? 0 : 1 << index;
  }

  /** The bits of the marks with which the string whose first byte is at `at` may begin. */
  at(bytes: Buffer, at: number): number {
    if (at >= bytes.length || this.#first[bytes[at] as number] === 0) return 0;
    let bits = 0;
    for (let index = 0; index < this.#texts.length; index++) {
      if (mayBegin(bytes, at, this.#texts[index] as string)) bits |= 1 << index;
    }
    return bits;
  }
}

export const NO_MARKS = new Marks([]);

/** A Unicode escape may mean any character, so a text with one may begin with everything. */
function mayBegin(bytes: Buffer, at: number, mark: string): boolean {
  for (let index = 0; index < mark.length; index++) {
    const byte = bytes[at + index];
    if (byte === BACKSLASH) return bytes[at + index + 1] === SMALL_U;
    if (byte !== mark.charCodeAt(index)) return false;
  }
  return true;
}
