import { Buffer } from 'node:buffer';
import { IncomingMessage } from 'node:http';
import type { Clock } from '../../core/time/clock.ts';

/** A chunk below this costs more to take over than its bytes to read. */
const SMALL_BYTES = 512;
/** Small chunks of a body after which its client is held back. */
const CHUNKS_PER_TURN = 256;
/** Least time before a client goes on; more where its chunks took long to take over. */
const MIN_GAP_MS = 20;
/**
 * Pause as a multiple of the time that chunks took: their clients have a fifth of the process, and
 * others the rest.
 */
const GAP_SHARE = 4;

/**
 * Makes a class of requests whose bodies may come in any number of tiny chunks without keeping others
 * waiting, whoever reads them: after some chunks nothing more is read from the socket until it is that
 * request's turn again. What the socket had read by then (64 KiB) is still taken. All requests of the
 * class share the turns, so many such clients take no more of the process than one.
 */
export function createPacedRequest(clock: Clock): typeof IncomingMessage {
  const held: { readonly gapMs: number; readonly goOn: () => void }[] = [];
  const wait = (): void => {
    const [first] = held;
    if (first) clock.setTimeout(letGo, first.gapMs);
  };
  const letGo = (): void => {
    const first = held.shift();
    wait();
    first?.goOn();
  };
  const hold = (goOn: () => void, tookMs: number): void => {
    held.push({ gapMs: Math.max(MIN_GAP_MS, GAP_SHARE * tookMs), goOn });
    if (held.length === 1) wait();
  };

  return class PacedRequest extends IncomingMessage {
    #smallChunks = 0;
    #isHeld = false;
    #isAsked = false;

    override push(chunk: unknown, encoding?: BufferEncoding): boolean {
      const hasRoom = super.push(chunk, encoding);
      const isSmall = Buffer.isBuffer(chunk) && chunk.length < SMALL_BYTES;
      if (isSmall && ++this.#smallChunks % CHUNKS_PER_TURN === 0) this.#hold();
      return hasRoom && !this.#isHeld;
    }

    override _read(size: number): void {
      if (this.#isHeld) this.#isAsked = true;
      else super._read(size);
    }

    #hold(): void {
      if (this.#isHeld) return;
      this.#isHeld = true;
      const startedAt = clock.monotonic();
      setImmediate(() => hold(() => this.#goOn(), clock.monotonic() - startedAt));
    }

    #goOn(): void {
      this.#isHeld = false;
      if (this.#isAsked) super._read(0);
      else if (!this.complete) this.socket.resume();
      this.#isAsked = false;
    }
  };
}
