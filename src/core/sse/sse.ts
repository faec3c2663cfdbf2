import { Buffer } from 'node:buffer';
import { DATA_PREFIX, toBlankFrame, toDataFrame, toFrame, toNamedFrame } from './frame.ts';
import type { FrameBytes, SseFrame } from './frame.ts';

export interface SseFramerOptions {
  /** Longest frame in bytes. Default 16 MiB. */
  maxFrameBytes?: number;
}

/**
 * Cuts a byte stream into server-sent event frames. LF, CRLF and lone CR end lines, a byte order mark at the
 * start is skipped, and the frames are the same however the input is split, but for blank lines between them.
 * Their bytes together are those of the input. Holds at most one incomplete frame.
 */
export interface SseFramer {
  /** The frames that the chunk completes, in order. Frames keep references into the chunk. */
  push(chunk: Buffer): readonly SseFrame[];
  /** A frame that lacked its closing blank line, with it; the caller decides whether it counts. */
  end(): SseFrame | undefined;
  /** A frame was longer than allowed; nothing more comes out. */
  readonly overflowed: boolean;
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const CR = Buffer.from('\r');
const NO_FRAMES: readonly SseFrame[] = [];
const DEFAULT_MAX_FRAME_BYTES = 16 * 1024 * 1024;

export function createSseFramer({
  maxFrameBytes = DEFAULT_MAX_FRAME_BYTES,
}: SseFramerOptions = {}): SseFramer {
  return new Framer(maxFrameBytes);
}

/** Characters that end a line. */
type Break = '\n' | '\r\n' | '\r';

class Framer implements SseFramer {
  overflowed = false;
  readonly #maxFrameBytes: number;
  /** First bytes of the stream while they may still become a byte order mark. */
  #head: Buffer | undefined = Buffer.alloc(0);
  /** The last chunk ended in a CR; an LF at the start of the next one would belong to it. */
  #waitsForLf = false;
  /** The frame that the earlier chunks began; empty between frames. */
  #carry = new ByteAccumulator();
  #frames: SseFrame[] = [];
  /** A line that is not blank has begun, so later bytes belong to a frame. */
  #inFrame = false;
  #atLineStart = true;
  #lastBreak: Break = '\n';

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  push(chunk: Buffer): readonly SseFrame[] {
    if (this.overflowed) return NO_FRAMES;
    const bytes = this.#head === undefined ? chunk : this.#skipMark(chunk);
    if (bytes === undefined || bytes.length === 0) return NO_FRAMES;
    const whole = this.#waitsForLf ? Buffer.concat([CR, bytes]) : bytes;
    const text = whole.toString('latin1');
    // A lone CR came before, so the CR of a blank line has no LF to wait for.
    this.#waitsForLf = text.endsWith('\r') && !text.endsWith('\r\r');
    return this.#split(whole, this.#waitsForLf ? text.slice(0, -1) : text);
  }

  end(): SseFrame | undefined {
    const [closed] = this.#waitsForLf ? this.#split(CR, '\r') : NO_FRAMES;
    this.#waitsForLf = false;
    const left = this.#carry.take();
    if (closed) return closed;
    if (this.overflowed || left.length === 0) return undefined;
    const missing = this.#lastBreak.repeat(this.#atLineStart ? 1 : 2);
    const source = Buffer.concat([left, Buffer.from(missing)]);
    return toFrame({ source, text: source.toString('latin1'), start: 0, end: source.length });
  }

  #skipMark(chunk: Buffer): Buffer | undefined {
    const bytes = this.#head?.length ? Buffer.concat([this.#head, chunk]) : chunk;
    if (bytes.length < BOM.length && BOM.subarray(0, bytes.length).equals(bytes)) {
      this.#head = Buffer.from(bytes);
      return undefined;
    }
    this.#head = undefined;
    return bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes;
  }

  /** Splits line by line; a frame ends after its blank line. */
  #split(source: Buffer, text: string): readonly SseFrame[] {
    this.#frames = [];
    const isLf = !text.includes('\r');
    const nextBreak = breakFinder(text, isLf);
    let start = 0;
    let at = 0;
    while (at < text.length && !this.overflowed) {
      const found = nextBreak(at);
      const isBlank = this.#atLineStart && found === at;
      if (!isBlank && !this.#inFrame) {
        this.#addBlank({ source, start, end: at });
        start = at;
      }
      this.#inFrame ||= !isBlank;
      this.#atLineStart = found >= 0;
      at = found < 0 ? text.length : this.#endLine(text, found, isBlank);
      if (!isBlank || !this.#inFrame) continue;
      this.#addFrame({ source, text, start, end: at }, isLf);
      start = at;
    }
    if (this.#inFrame) this.#keep(source.subarray(start, text.length));
    else this.#addBlank({ source, start, end: text.length });
    return this.#frames;
  }

  /** The offset after the line break at `at`. */
  #endLine(text: string, at: number, isBlank: boolean): number {
    const isCr = text[at] === '\r';
    const isPair = isCr && text[at + 1] === '\n' && !(isBlank && this.#lastBreak === '\r');
    this.#lastBreak = isPair ? '\r\n' : isCr ? '\r' : '\n';
    return at + this.#lastBreak.length;
  }

  #addBlank(bytes: Omit<FrameBytes, 'text'>): void {
    if (bytes.end > bytes.start && !this.overflowed) this.#frames.push(toBlankFrame(bytes));
  }

  /** A frame that ends in these bytes, and may have begun in earlier ones. */
  #addFrame(bytes: FrameBytes, isLf: boolean): void {
    this.#inFrame = false;
    if (this.#carry.length === 0) {
      if (this.#fits(bytes.end - bytes.start)) this.#frames.push(readFrame(bytes, isLf));
      return;
    }
    if (!this.#keep(bytes.source.subarray(bytes.start, bytes.end))) return;
    const source = this.#carry.take();
    const text = source.toString('latin1');
    const whole = { source, text, start: 0, end: source.length };
    this.#frames.push(readFrame(whole, !text.includes('\r')));
  }

  /** Bytes of an incomplete frame. False: there are too many. */
  #keep(bytes: Buffer): boolean {
    const fits = this.#fits(this.#carry.length + bytes.length);
    if (fits) this.#carry.append(bytes);
    return fits;
  }

  #fits(length: number): boolean {
    if (length <= this.#maxFrameBytes) return true;
    this.overflowed = true;
    this.#carry.take();
    return false;
  }
}

/** Finds the line break at or after an offset that only grows. */
function breakFinder(text: string, isLf: boolean): (from: number) => number {
  if (isLf) return (from) => text.indexOf('\n', from);
  const breaks = /[\r\n]/g;
  return (from) => {
    breaks.lastIndex = from;
    return breaks.exec(text)?.index ?? -1;
  };
}

/** @param isLf no other character ends lines in it */
function readFrame(bytes: FrameBytes, isLf: boolean): SseFrame {
  const { text, start, end } = bytes;
  if (isLf && text.startsWith(DATA_PREFIX, start) && text.indexOf('\n', start) === end - 2)
    return toDataFrame(bytes);
  return (isLf ? toNamedFrame(bytes) : undefined) ?? toFrame(bytes);
}

/** Collects bytes in one growing buffer, so that a frame of many small chunks costs linear time. */
class ByteAccumulator {
  length = 0;
  #bytes = Buffer.alloc(0);

  append(more: Buffer): void {
    const needed = this.length + more.length;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2, 1024));
      this.#bytes.copy(grown, 0, 0, this.length);
      this.#bytes = grown;
    }
    this.length += more.copy(this.#bytes, this.length);
  }

  /** Returns the collected bytes and starts again. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.length);
    this.#bytes = Buffer.alloc(0);
    this.length = 0;
    return taken;
  }
}
