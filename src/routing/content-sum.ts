import { createHash } from 'node:crypto';

/** Fingerprint of a set that follows each change without reading the others; order says nothing. */
export class ContentSum {
  #sum = 0n;

  add(item: unknown): void {
    this.#sum = BigInt.asUintN(64, this.#sum + hashOf(item));
  }

  /** Takes out what was added. */
  remove(item: unknown): void {
    this.#sum = BigInt.asUintN(64, this.#sum - hashOf(item));
  }

  toString(): string {
    return this.#sum.toString(16).padStart(16, '0');
  }
}

function hashOf(item: unknown): bigint {
  return createHash('sha256').update(JSON.stringify(item)).digest().readBigUInt64BE();
}
