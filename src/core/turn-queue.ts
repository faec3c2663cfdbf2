/**
 * Lets those who come at once go on one after the other, each in a turn of the event loop of its own, so
 * that whoever else waits for the loop waits for one of them at most.
 */
export class TurnQueue {
  readonly #waiting: (() => void)[] = [];

  /** Resolves, in the order of the calls, when it is the caller's turn. */
  enter(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) this.#next();
    });
  }

  #next(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#next();
    });
  }
}
