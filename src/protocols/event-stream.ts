import { Buffer } from 'node:buffer';
import { SseBatch } from '../core/sse/batch.ts';
import type { SseFrame } from '../core/sse/frame.ts';
import { createSseFramer } from '../core/sse/sse.ts';
import type { Usage } from '../core/usage.ts';
import type { StreamFailure, StreamReader } from './protocol.ts';

/** Most bytes without data that are held back until the first content. */
const MAX_IDLE_BYTES = 64 * 1024;

/** Framing and the rules of every protocol's stream; a protocol interprets its events. */
export abstract class EventStream implements StreamReader {
  contentSeen = false;
  thinking = false;
  events = 0;
  ended = false;
  failure: StreamFailure | undefined;
  usage: Usage | undefined;
  outputChars = 0;
  held = 0;
  readonly #framer = createSseFramer();
  #waiting: Buffer[] = [];
  /** Bytes of comments and the like that were held back. */
  #idle = 0;

  push(chunk: Buffer): Buffer | undefined {
    if (this.isOver()) return undefined;
    const out = new SseBatch();
    for (const frame of this.#framer.push(chunk)) {
      this.#count(frame, out);
      if (this.isOver()) return this.#release(out);
    }
    if (this.#framer.overflowed) this.fail('too_large', 'an event of the provider is too large');
    return this.#release(out);
  }

  end(): Buffer | undefined {
    if (this.isOver()) return undefined;
    const out = new SseBatch();
    const last = this.#framer.end();
    // Servers forget the blank line after the last event; an event that was cut is left out.
    if (last !== undefined && (isIdle(last) || this.isWhole(last))) this.#count(last, out);
    if (!this.isOver()) this.close(out);
    return this.#release(out);
  }

  /** Takes one event: notes its facts and adds the client's bytes of it to `out`. */
  protected abstract read(frame: SseFrame, out: SseBatch): void;

  /** The connection closed before the protocol's end: supplies the end or sets `failure`. */
  protected abstract close(out: SseBatch): void;

  /** True for an event without its closing blank line that was not cut. */
  protected abstract isWhole(frame: SseFrame): boolean;

  protected isOver(): boolean {
    return this.ended || this.failure !== undefined;
  }

  protected fail(kind: StreamFailure['kind'], message: string): void {
    this.failure = { kind, message };
  }

  /** The provider began its answer again: bytes of the first one that are held back are dropped. */
  protected beginAnew(out: SseBatch): void {
    out.clear();
    this.#waiting = [];
    this.held = 0;
    this.outputChars = 0;
    this.usage = undefined;
  }

  #count(frame: SseFrame, out: SseBatch): void {
    if (!this.contentSeen && isWithoutData(frame)) return this.#holdIdle(frame, out);
    if (!isBlank(frame)) this.events++;
    this.read(frame, out);
  }

  /** Holds back a frame that is empty, up to a bound: more of them would only fill memory. */
  #holdIdle(frame: SseFrame, out: SseBatch): void {
    this.#idle += frame.end - frame.start;
    if (frame.payload === undefined && this.#idle <= MAX_IDLE_BYTES) this.read(frame, out);
  }

  /** Returns nothing before the first content, then all bytes that were held back. */
  #release(out: SseBatch): Buffer | undefined {
    const bytes = out.bytes();
    if (this.contentSeen && this.#waiting.length === 0) return bytes;
    if (bytes) this.#waiting.push(bytes);
    if (!this.contentSeen) {
      this.held += bytes?.length ?? 0;
      return undefined;
    }
    const all = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.held = 0;
    return all;
  }
}

/** True for comments, blank lines and unknown fields. */
function isIdle({ event, payload }: SseFrame): boolean {
  return event === undefined && payload === undefined;
}

/** Blank lines between events are none. */
function isBlank({ source, start }: SseFrame): boolean {
  return source[start] === 10 || source[start] === 13;
}

/** The name `error` by itself reports a failure. */
function isWithoutData({ event, payload }: SseFrame): boolean {
  return event !== 'error' && (payload === undefined || payload.trim() === '');
}
