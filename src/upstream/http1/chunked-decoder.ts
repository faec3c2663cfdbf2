import type { Buffer } from 'node:buffer';
import { protocolError } from './to-upstream-error.ts';

/** Most bytes of one size line: the size, its leading zeros and its extensions. */
const MAX_LINE = 4096;
/** Most bytes of all trailers together. */
const MAX_TRAILERS = 64 * 1024;

/** The longest chunk with a size of one digit, and its frame. */
const SMALL_FRAME = 15 + 5;

const LF = 0x0a;
const CR = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;
const SEMICOLON = 0x3b;
const DELETE = 0x7f;

type State =
  | 'size'
  | 'extension'
  | 'size-lf'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer'
  | 'trailer-line'
  | 'trailer-lf'
  | 'end-lf'
  | 'done';

/**
 * Takes the framing off a chunked body (RFC 9112, 7.1) as it arrives. Extensions and trailers are
 * bounded and ignored. Works in place: the payload found by one call is moved together, so that it
 * can be passed on as one piece however small its chunks are.
 */
export class ChunkedDecoder {
  /** Offset at which the payload of the last call begins in the bytes that were given to it. */
  payloadStart = 0;
  payloadLength = 0;
  #state: State = 'size';
  /** Size of the chunk: the number on its line, then the rest of it that is left. */
  #size = 0;
  #hasSize = false;
  #lineLength = 0;
  #trailerLength = 0;

  get done(): boolean {
    return this.#state === 'done';
  }

  /**
   * Returns where it stopped: at `end`, or before it when the body is over. Throws `UpstreamError`
   * of kind `protocol`; the payload before the fault can still be read.
   */
  decode(bytes: Buffer, from: number, end: number): number {
    this.payloadStart = from;
    this.payloadLength = 0;
    let at = from;
    while (at < end && this.#state !== 'done') {
      if (this.#state === 'size' && !this.#hasSize) {
        const next = this.#takeSmall(bytes, at, end);
        if (next > at) {
          at = next;
          continue;
        }
      }
      if (this.#state === 'data') at = this.#takeData(bytes, at, end);
      else this.#takeByte(bytes[at++] as number);
    }
    return at;
  }

  /**
   * Takes chunks of fewer than 16 bytes that are here whole, without extensions, and returns the bytes after
   * them: a body may have millions of them.
   */
  #takeSmall(bytes: Buffer, from: number, end: number): number {
    let at = from;
    let to = this.payloadLength === 0 ? from : this.payloadStart + this.payloadLength;
    const start = to;
    for (;;) {
      const size = at + SMALL_FRAME < end ? hexDigit(bytes[at] as number) : 0;
      if (size <= 0 || bytes[at + 1] !== CR || bytes[at + 2] !== LF) break;
      const data = at + 3;
      const behind = data + size;
      if (bytes[behind] !== CR || bytes[behind + 1] !== LF) break;
      for (let index = data; index < behind; index++) bytes[to++] = bytes[index] as number;
      at = behind + 2;
    }
    if (to > start) {
      if (this.payloadLength === 0) this.payloadStart = start;
      this.payloadLength += to - start;
    }
    return at;
  }

  #takeData(bytes: Buffer, at: number, end: number): number {
    const length = Math.min(this.#size, end - at);
    if (this.payloadLength === 0) this.payloadStart = at;
    else bytes.copyWithin(this.payloadStart + this.payloadLength, at, at + length);
    this.payloadLength += length;
    this.#size -= length;
    if (this.#size === 0) this.#state = 'data-cr';
    return at + length;
  }

  #takeByte(byte: number): void {
    switch (this.#state) {
      case 'size':
        return this.#takeSize(byte);
      case 'extension':
        return this.#takeExtension(byte);
      case 'size-lf':
        this.#expect(byte, LF);
        this.#state = this.#size === 0 ? 'trailer' : 'data';
        return;
      case 'data-cr':
        this.#expect(byte, CR);
        this.#state = 'data-lf';
        return;
      case 'data-lf':
        this.#expect(byte, LF);
        return this.#startLine();
      case 'trailer':
      case 'trailer-line':
        return this.#takeTrailer(byte);
      case 'trailer-lf':
        this.#expect(byte, LF);
        this.#state = 'trailer';
        return;
      case 'end-lf':
        this.#expect(byte, LF);
        this.#state = 'done';
        return;
      case 'data':
      case 'done':
    }
  }

  #startLine(): void {
    this.#state = 'size';
    this.#size = 0;
    this.#hasSize = false;
    this.#lineLength = 0;
  }

  #takeSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit < 0) {
      if (!this.#hasSize) throw protocolError('bad chunk size');
      return this.#takeExtension(byte);
    }
    this.#countLine();
    this.#hasSize = true;
    this.#size = this.#size * 16 + digit;
    if (this.#size > Number.MAX_SAFE_INTEGER) throw protocolError('chunk too large');
  }

  #takeExtension(byte: number): void {
    this.#countLine();
    if (byte === CR) this.#state = 'size-lf';
    else if (this.#state === 'extension') refuseControls(byte);
    else if (byte === SEMICOLON || byte === SPACE || byte === TAB) this.#state = 'extension';
    else throw protocolError('bad chunk size');
  }

  #takeTrailer(byte: number): void {
    if (++this.#trailerLength > MAX_TRAILERS) throw protocolError('trailers too large');
    if (byte === CR) this.#state = this.#state === 'trailer' ? 'end-lf' : 'trailer-lf';
    else {
      refuseControls(byte);
      this.#state = 'trailer-line';
    }
  }

  #countLine(): void {
    if (++this.#lineLength > MAX_LINE) throw protocolError('chunk extensions too large');
  }

  #expect(byte: number, expected: number): void {
    if (byte !== expected) throw protocolError('bad end of a chunk');
  }
}

function refuseControls(byte: number): void {
  if ((byte < SPACE && byte !== TAB) || byte === DELETE) {
    throw protocolError('control character between chunks');
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
