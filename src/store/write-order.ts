/** A write in its two halves. */
export interface OrderedWrite<T, R> {
  /** Checks and encodes: a promise for what takes turns. A throw is the write's rejection. */
  prepare(): T | Promise<T>;
  /** Hands the result over to the store. */
  write(prepared: T): Promise<R>;
}

/**
 * Keeps the writes of one store in the order in which they were requested: a write after one that is prepared
 * in several ticks waits until that one is written. Writes that are prepared at once, with none such before
 * them, are handed over at once.
 */
export class WriteOrder {
  /** Resolves when the last of the writes that wait is passed; undefined while none does. */
  #last: Promise<void> | undefined;
  #underWay = 0;
  readonly #idle: (() => void)[] = [];
  readonly #assertOpen: () => void;

  /** @param assertOpen throws once the store refuses writes */
  constructor(assertOpen: () => void) {
    this.#assertOpen = assertOpen;
  }

  async run<T, R>(task: OrderedWrite<T, R>): Promise<R> {
    this.#underWay++;
    try {
      this.#assertOpen();
      const prepared = task.prepare();
      if (this.#last || prepared instanceof Promise) return await this.#behind(prepared, task);
      return await task.write(prepared);
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** Resolves when everything that was asked for is written or refused. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#underWay === 0) resolve();
      else this.#idle.push(resolve);
    });
  }

  async #behind<T, R>(
    preparing: T | Promise<T>,
    { write }: Pick<OrderedWrite<T, R>, 'write'>,
  ): Promise<R> {
    const before = this.#last;
    let pass = (): void => undefined;
    const passed = new Promise<void>((resolve) => (pass = resolve));
    this.#last = passed;
    try {
      const [prepared] = await Promise.allSettled([preparing, before]);
      if (prepared.status === 'rejected') throw prepared.reason;
      const written = write(prepared.value);
      // A long one may take another connection than later ones, and be slower on it.
      if (preparing instanceof Promise) return await written;
      this.#pass(passed, pass);
      return await written;
    } finally {
      this.#pass(passed, pass);
    }
  }

  #pass(passed: Promise<void>, pass: () => void): void {
    if (this.#last === passed) this.#last = undefined;
    pass();
  }
}
