/** Runs work of one key strictly one after the other, and work of different keys at once. */
export class Serial {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Waits for the key's work so far, whatever became of it. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const result = before === undefined ? work() : before.then(work);
    const tail: Promise<void> = result.then(
      () => this.#leave(key, tail),
      () => this.#leave(key, tail),
    );
    this.#tails.set(key, tail);
    return result;
  }

  #leave(key: string, tail: Promise<unknown>): void {
    if (this.#tails.get(key) === tail) this.#tails.delete(key);
  }
}
