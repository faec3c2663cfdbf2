import { Buffer } from 'node:buffer';

/** A chunk below this is copied: as an object of its own it would weigh a multiple of its bytes. */
const SMALL_BYTES = 4096;
const BLOCK_BYTES = 64 * 1024;

/**
 * Gathers bytes so that they take about the memory of their number, however small the chunks are in
 * which they come. Chunks that are given away must not be changed afterwards.
 */
export class ByteGatherer {
  readonly #pieces: Buffer[] = [];
  /** Filled up to `#used`; the bytes since `#from` are in no piece yet. */
  #block: Buffer | undefined;
  #from = 0;
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    // Most bodies come in one chunk.
    const isSmall = chunk.length < SMALL_BYTES && this.#length > 0;
    this.#length += chunk.length;
    if (isSmall) return this.#copy(chunk);
    this.#endPiece();
    this.#pieces.push(chunk);
  }

  /** Returns the pieces that have come so far, in order. */
  pieces(): readonly Buffer[] {
    this.#endPiece();
    return this.#pieces;
  }

  /** The same as one; the chunk itself if there was but one. */
  concat(): Buffer {
    const pieces = this.pieces();
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  #copy(chunk: Buffer): void {
    if (!this.#block || this.#block.length - this.#used < chunk.length) {
      this.#endPiece();
      this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
      this.#from = 0;
      this.#used = 0;
    }
    this.#used += chunk.copy(this.#block, this.#used);
  }

  #endPiece(): void {
    if (!this.#block || this.#used === this.#from) return;
    this.#pieces.push(this.#block.subarray(this.#from, this.#used));
    this.#from = this.#used;
  }
}
