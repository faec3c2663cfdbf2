import { Buffer } from 'node:buffer';

const CHUNK_BYTES = 256 * 1024;
const MOST_BYTES_PER_UNIT = 3;

/** Bytes of lines, kept outside of the heap of objects: what lives for a fifth of a second is no garbage then. */
export class LineBuffer {
  #chunk = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  #parts: Buffer[] = [];
  #count = 0;

  /** Lines since the last `take`. */
  get count(): number {
    return this.#count;
  }

  /** Appends a line with its end; returns its bytes without that. */
  add(line: string): Buffer {
    const most = line.length * MOST_BYTES_PER_UNIT + 1;
    if (most > this.#chunk.length - this.#end) this.#renew(most);
    const from = this.#end;
    this.#end += this.#chunk.write(line, from, 'utf8');
    const bytes = this.#chunk.subarray(from, this.#end);
    this.#chunk[this.#end++] = 0x0a;
    this.#count++;
    return bytes;
  }

  /** Everything since the last `take`. */
  take(): { parts: Buffer[]; count: number } {
    const parts = this.#parts;
    if (this.#end > this.#start) parts.push(this.#chunk.subarray(this.#start, this.#end));
    const count = this.#count;
    this.#parts = [];
    this.#start = this.#end;
    this.#count = 0;
    return { parts, count };
  }

  #renew(least: number): void {
    if (this.#end > this.#start) this.#parts.push(this.#chunk.subarray(this.#start, this.#end));
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(least, CHUNK_BYTES));
    this.#start = 0;
    this.#end = 0;
  }
}
