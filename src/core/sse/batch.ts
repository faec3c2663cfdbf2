import { Buffer } from 'node:buffer';
import type { SseFrame } from './frame.ts';

/** Gathers frames to be sent on; neighbours in one buffer stay one slice of it and are not copied. */
export class SseBatch {
  readonly #parts: Buffer[] = [];
  #source: Buffer | undefined;
  #start = 0;
  #end = 0;

  add({ source, start, end }: Pick<SseFrame, 'source' | 'start' | 'end'>): void {
    if (source !== this.#source || start !== this.#end) {
      this.#close();
      this.#source = source;
      this.#start = start;
    }
    this.#end = end;
  }

  addBytes(bytes: Buffer): void {
    this.#close();
    this.#parts.push(bytes);
  }

  /** Drops the collected events. */
  clear(): void {
    this.#parts.length = 0;
    this.#source = undefined;
  }

  /** Returns the gathered bytes, or undefined when there are none. */
  bytes(): Buffer | undefined {
    this.#close();
    return this.#parts.length > 1 ? Buffer.concat(this.#parts) : this.#parts[0];
  }

  #close(): void {
    if (this.#source !== undefined) this.#parts.push(this.#source.subarray(this.#start, this.#end));
    this.#source = undefined;
  }
}
