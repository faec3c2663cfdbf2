/** Cuts bytes into lines of a bounded length. */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isSkipping = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that the bytes complete. Of one that is too long, only the beginning comes, marked. */
  *push(chunk: Buffer): Generator<{ readonly text: string; readonly isCut: boolean }> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(10, start);
      const part = chunk.subarray(start, end < 0 ? undefined : end);
      if (!this.#isSkipping) {
        this.#parts.push(part.subarray(0, this.#maxBytes - this.#bytes));
        this.#bytes += part.length;
      }
      if (!this.#isSkipping && this.#bytes > this.#maxBytes) {
        this.#isSkipping = true;
        yield { text: this.#take(), isCut: true };
      }
      if (end < 0) return;
      if (!this.#isSkipping) yield { text: this.#take(), isCut: false };
      this.#isSkipping = false;
      start = end + 1;
    }
  }

  /** Returns the text after the last line break. */
  end(): string {
    return this.#take();
  }

  #take(): string {
    const text = Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#bytes = 0;
    return text;
  }
}
