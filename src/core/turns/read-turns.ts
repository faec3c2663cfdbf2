/** Reads of 64 KiB that are taken in one tick of the event loop. */
const READS_PER_TURN = 8;
const BYTES_PER_TURN = READS_PER_TURN * 64 * 1024;

/**
 * Shares the event loop among all that read much from sockets: in one tick 512 KiB are taken in all, in
 * addition to one read of each. Unshared, a socket is read up to 32 times in a row, and a small request among
 * ten of them waits for many megabytes in each of its own ticks.
 */
export class ReadTurns {
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #isTurnAhead = false;

  /** Counts a read; false when the reader is to stop, and to {@link wait}. */
  take(bytes: number): boolean {
    this.#taken += bytes;
    this.#planTurn();
    return this.#taken < BYTES_PER_TURN;
  }

  /** Calls back in a later tick of the event loop: first come, first served. */
  wait(goOn: () => void): void {
    this.#waiting.push(goOn);
    this.#planTurn();
  }

  #planTurn(): void {
    if (this.#isTurnAhead) return;
    this.#isTurnAhead = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#taken = 0;
    this.#isTurnAhead = false;
    for (const goOn of this.#waiting.splice(0, READS_PER_TURN)) goOn();
    if (this.#waiting.length > 0) this.#planTurn();
  }
}
