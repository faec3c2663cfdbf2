import { Buffer } from 'node:buffer';
import { IncomingMessage } from 'node:http';
import { ReadTurns } from '../../core/turns/read-turns.ts';
import type { Clock } from '../../core/time/clock.ts';

/** A chunk below this costs more to take over than its bytes to read. */
const SMALL_BYTES = 512;
/** Small chunks of a body after which its client is held back. */
const CHUNKS_PER_TURN = 256;
/** Minimum pause of a client that is held back; longer where its chunks took long to process. */
const MIN_GAP_MS = 20;
/**
 * Pause as a multiple of the time that chunks took: their clients have a fifth of the process, and
 * others the rest.
 */
const GAP_SHARE = 4;
/** Largest piece that is read from a socket at once. */
const READ_BYTES = 64 * 1024;

/**
 * Makes a class of requests whose bodies do not delay other requests, however they are read. The
 * requests share one queue of turns, so many large bodies take as much of the process as one.
 *
 * After some tiny chunks nothing more is read from the socket until it is that request's turn again;
 * what the socket had read by then (64 KiB) is still taken. Large bodies share {@link ReadTurns}.
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

  const large = new ReadTurns();

  return class PacedRequest extends IncomingMessage {
    #bytes = 0;
    #smallChunks = 0;
    #isHeld = false;
    #isAsked = false;
    #hasRoom = true;

    override push(chunk: unknown, encoding?: BufferEncoding): boolean {
      this.#hasRoom = super.push(chunk, encoding);
      if (Buffer.isBuffer(chunk)) this.#pace(chunk.length);
      return this.#hasRoom && !this.#isHeld;
    }

    override _read(size: number): void {
      if (this.#isHeld) this.#isAsked = true;
      else super._read(size);
    }

    #pace(bytes: number): void {
      this.#bytes += bytes;
      if (this.#isHeld) return;
      if (bytes < SMALL_BYTES && ++this.#smallChunks % CHUNKS_PER_TURN === 0) this.#holdForGap();
      else if (this.#bytes > READ_BYTES && !large.take(bytes)) this.#holdForTurn();
    }

    #holdForGap(): void {
      this.#isHeld = true;
      const startedAt = clock.monotonic();
      setImmediate(() => hold(() => this.#goOn(), clock.monotonic() - startedAt));
    }

    #holdForTurn(): void {
      this.#isHeld = true;
      large.wait(() => this.#goOn());
    }

    #goOn(): void {
      this.#isHeld = false;
      if (this.#isAsked) super._read(0);
      else if (this.#hasRoom && !this.complete) this.socket.resume();
      this.#isAsked = false;
    }
  };
}
