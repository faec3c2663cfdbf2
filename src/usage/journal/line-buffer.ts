import { Buffer } from 'node:buffer';

const CHUNK_BYTES = 256 * 1024;
const MOST_BYTES_PER_UNIT = 3;
const LINE_END = 0x0a;

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

  /** Appends a line with its end. */
  add(line: string): void {
    this.#makeRoom(line.length * MOST_BYTES_PER_UNIT + 1);
    this.#write(line);
    this.#endLine();
  }

  /** Appends a line of two parts with its end; returns the bytes of the second one. */
  addParts(head: string, body: string): Buffer {
    this.#makeRoom((head.length + body.length) * MOST_BYTES_PER_UNIT + 1);
    this.#write(head);
    const from = this.#end;
    this.#write(body);
    const bytes = this.#chunk.subarray(from, this.#end);
    this.#endLine();
    return bytes;
  }

  #write(text: string): void {
    this.#end += this.#chunk.write(text, this.#end, 'utf8');
  }

  #endLine(): void {
    this.#chunk[this.#end++] = LINE_END;
    this.#count++;
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

  #makeRoom(least: number): void {
    if (least <= this.#chunk.length - this.#end) return;
    if (this.#end > this.#start) this.#parts.push(this.#chunk.subarray(this.#start, this.#end));
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(least, CHUNK_BYTES));
    this.#start = 0;
    this.#end = 0;
  }
}
