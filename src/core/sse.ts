import { Buffer } from 'node:buffer';
import { DATA_PREFIX, toDataFrame, toFrame, toNamedFrame } from './sse-frame.ts';
import type { FrameBytes, SseFrame } from './sse-frame.ts';

export interface SseFramerOptions {
  /** Longest frame in bytes, line ends counted as one. Default 16 MiB. */
  maxFrameBytes?: number;
}

/**
 * Cuts a byte stream into server-sent event frames. LF, CRLF and lone CR end lines, a byte order mark
 * at the start is skipped, and the frames are the same however the input is split. Holds at most one
 * incomplete frame.
 */
export interface SseFramer {
  /** The frames that the chunk completes, in order. Frames keep references into the chunk. */
  push(chunk: Buffer): readonly SseFrame[];
  /** What was left without its closing blank line; the caller decides whether it counts. */
  end(): SseFrame | undefined;
  /** A frame was longer than allowed; nothing more comes out. */
  readonly overflowed: boolean;
}

const LF = 10;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const NO_FRAMES: readonly SseFrame[] = [];
const DEFAULT_MAX_FRAME_BYTES = 16 * 1024 * 1024;

export function createSseFramer({
  maxFrameBytes = DEFAULT_MAX_FRAME_BYTES,
}: SseFramerOptions = {}): SseFramer {
  return new Framer(maxFrameBytes);
}

class Framer implements SseFramer {
  overflowed = false;
  readonly #maxFrameBytes: number;
  /** First bytes of the stream while they may still become a byte order mark. */
  #head: Buffer | undefined = Buffer.alloc(0);
  /** The last chunk ended in CR: an LF in front of the next one belongs to it. */
  #skipLf = false;
  #carry = new ByteAccumulator();

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  push(chunk: Buffer): readonly SseFrame[] {
    if (this.overflowed) return NO_FRAMES;
    const bytes = this.#head === undefined ? chunk : this.#skipMark(chunk);
    if (bytes === undefined || bytes.length === 0) return NO_FRAMES;
    const text = bytes.toString('latin1');
    if (!this.#skipLf && !text.includes('\r')) return this.#split(bytes, text);
    const normal = this.#normalise(text);
    return this.#split(Buffer.from(normal, 'latin1'), normal);
  }

  end(): SseFrame | undefined {
    const left = this.#carry.take();
    if (this.overflowed || left.length === 0) return undefined;
    return toFrame({ source: left, text: left.toString('latin1'), start: 0, end: left.length });
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

  #normalise(text: string): string {
    const from = this.#skipLf && text.charCodeAt(0) === LF ? 1 : 0;
    this.#skipLf = text.endsWith('\r');
    return text.slice(from).replace(/\r\n?/g, '\n');
  }

  #split(bytes: Buffer, text: string): readonly SseFrame[] {
    const frames: SseFrame[] = [];
    let at = this.#carry.length === 0 ? 0 : this.#finishCarried(bytes, text, frames);
    while (at < text.length) {
      if (text.charCodeAt(at) === LF) {
        at++;
        continue;
      }
      const firstLine = text.indexOf('\n', at);
      const last = firstLine < 0 ? -1 : text.indexOf('\n\n', firstLine);
      const end = last < 0 ? text.length : last + 2;
      if (end - at > this.#maxFrameBytes) return this.#overflow(frames);
      if (last < 0) this.#carry.append(bytes.subarray(at));
      else emit(frames, { source: bytes, text, start: at, end }, firstLine === last);
      at = end;
    }
    return frames;
  }

  /** Completes the frame that earlier chunks began; the offset at which the next one starts. */
  #finishCarried(bytes: Buffer, text: string, frames: SseFrame[]): number {
    const blankFirst = this.#carry.last === LF && text.charCodeAt(0) === LF;
    const last = blankFirst ? -1 : text.indexOf('\n\n');
    const end = blankFirst ? 1 : last < 0 ? text.length : last + 2;
    if (this.#carry.length + end > this.#maxFrameBytes) {
      this.#overflow(frames);
      return text.length;
    }
    this.#carry.append(bytes.subarray(0, end));
    if (blankFirst || last >= 0) {
      const source = this.#carry.take();
      const carried = source.toString('latin1');
      const single = carried.indexOf('\n') === source.length - 2;
      emit(frames, { source, text: carried, start: 0, end: source.length }, single);
    }
    return end;
  }

  #overflow(frames: readonly SseFrame[]): readonly SseFrame[] {
    this.overflowed = true;
    this.#carry.take();
    return frames;
  }
}

function emit(frames: SseFrame[], bytes: FrameBytes, singleLine: boolean): void {
  const usual = singleLine && bytes.text.startsWith(DATA_PREFIX, bytes.start);
  const frame = usual ? toDataFrame(bytes) : (toNamedFrame(bytes) ?? toFrame(bytes));
  if (frame !== undefined) frames.push(frame);
}

/** Collects bytes in one growing buffer, so that a frame of many small chunks costs linear time. */
class ByteAccumulator {
  length = 0;
  #bytes = Buffer.alloc(0);

  get last(): number | undefined {
    return this.#bytes[this.length - 1];
  }

  append(more: Buffer): void {
    const needed = this.length + more.length;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2, 1024));
      this.#bytes.copy(grown, 0, 0, this.length);
      this.#bytes = grown;
    }
    this.length += more.copy(this.#bytes, this.length);
  }

  /** Hands over what was collected and starts anew. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.length);
    this.#bytes = Buffer.alloc(0);
    this.length = 0;
    return taken;
  }
}
