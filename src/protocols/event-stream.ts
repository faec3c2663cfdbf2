import type { Buffer } from 'node:buffer';
import { SseBatch } from '../core/sse-batch.ts';
import type { SseFrame } from '../core/sse-frame.ts';
import { createSseFramer } from '../core/sse.ts';
import type { Usage } from '../core/usage.ts';
import type { StreamFailure, StreamReader } from './protocol.ts';

/** Framing and the rules that hold for every protocol's stream; a protocol says what an event means. */
export abstract class EventStream implements StreamReader {
  contentSeen = false;
  events = 0;
  ended = false;
  failure: StreamFailure | undefined;
  usage: Usage | undefined;
  outputChars = 0;
  readonly #framer = createSseFramer();

  push(chunk: Buffer): Buffer | undefined {
    if (this.isOver()) return undefined;
    const out = new SseBatch();
    for (const frame of this.#framer.push(chunk)) {
      this.#count(frame, out);
      if (this.isOver()) return out.bytes();
    }
    if (this.#framer.overflowed) this.fail('too_large', 'an event of the provider is too large');
    return out.bytes();
  }

  end(): Buffer | undefined {
    if (this.isOver()) return undefined;
    const out = new SseBatch();
    const last = this.#framer.end();
    // Servers forget the blank line behind the last event; what was cut in the middle is left out.
    if (last !== undefined && this.isWhole(last)) this.#count(last, out);
    if (!this.isOver()) this.close(out);
    return out.bytes();
  }

  /** Takes one event: notes what it says and adds what the client gets of it to `out`. */
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

  /** Leaves out what is empty while nothing goes to the client yet: held back, it would only fill memory. */
  #count(frame: SseFrame, out: SseBatch): void {
    if (!this.contentSeen && isEmpty(frame)) return;
    this.events++;
    this.read(frame, out);
  }
}

/** True for a comment or an event without data; the name `error` alone tells of a failure. */
function isEmpty({ event, payload }: SseFrame): boolean {
  return event !== 'error' && (payload === undefined || payload.trim() === '');
}
