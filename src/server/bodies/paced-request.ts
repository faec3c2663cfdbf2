import { IncomingMessage } from 'node:http';

/** Chunks of a body after which others get their turn; one that comes in large chunks has fewer. */
const CHUNKS_PER_TURN = 256;

/**
 * A request whose body may come in any number of chunks without keeping others waiting: after some of
 * them nothing more is read from the socket until the next turn of the event loop, whoever reads the
 * body. What the socket had read by then (64 KiB) is still taken.
 */
export class PacedRequest extends IncomingMessage {
  #chunks = 0;
  #isHeld = false;
  #isAsked = false;

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    const hasRoom = super.push(chunk, encoding);
    if (++this.#chunks % CHUNKS_PER_TURN === 0) this.#hold();
    return hasRoom && !this.#isHeld;
  }

  override _read(size: number): void {
    if (this.#isHeld) this.#isAsked = true;
    else super._read(size);
  }

  #hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    setImmediate(() => {
      this.#isHeld = false;
      if (this.#isAsked) super._read(0);
      else if (!this.complete && this.readableLength < this.readableHighWaterMark)
        this.socket.resume();
      this.#isAsked = false;
    });
  }
}
