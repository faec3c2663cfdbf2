/** Wakes of one tick: each is a read and a write to a socket, some tenths of a millisecond. */
const WAKES_PER_TICK = 32;

/**
 * Spreads those that are woken at the same moment over ticks of the event loop: so many at once, the others in
 * the ticks after it, first come, first served. Other work waits for one such group at most.
 */
export class WakeTurns {
  readonly #waiting: (() => void)[] = [];
  #left = WAKES_PER_TICK;
  #isTickAhead = false;

  enter(wake: () => void): void {
    if (!this.#isTickAhead) {
      this.#isTickAhead = true;
      setImmediate(this.#tick);
    }
    if (this.#left === 0) return void this.#waiting.push(wake);
    this.#left--;
    wake();
  }

  readonly #tick = (): void => {
    const woken = this.#waiting.splice(0, WAKES_PER_TICK);
    this.#left = WAKES_PER_TICK - woken.length;
    this.#isTickAhead = woken.length > 0;
    if (this.#isTickAhead) setImmediate(this.#tick);
    for (const wake of woken) wake();
  };
}
