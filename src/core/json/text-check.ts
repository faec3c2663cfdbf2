import { isUtf8 } from 'node:buffer';
import type { Buffer } from 'node:buffer';

/** Bytes that one step checks. */
const STEP_BYTES = 1024 * 1024;

/** Checks that bytes are UTF-8: up to 1 MiB of them at once, more in steps. */
export class TextCheck {
  readonly #bytes: Buffer;
  #checked = 0;
  #isBroken = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Checks further bytes, at least `budget`, until the end. */
  step(budget: number): 'more' | 'sound' | 'broken' {
    const bytes = this.#bytes;
    const from = this.#checked;
    if (this.#isBroken || from === bytes.length) return this.#isBroken ? 'broken' : 'sound';
    let end = from + Math.max(budget, STEP_BYTES);
    if (end >= bytes.length) end = bytes.length;
    else while (end > from && isInside(bytes[end] as number)) end--;
    const piece = from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end);
    this.#isBroken = end === from || !isUtf8(piece);
    this.#checked = end;
    if (this.#isBroken) return 'broken';
    return end === bytes.length ? 'sound' : 'more';
  }
}

/** True for every byte of a character but its first one. */
function isInside(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
