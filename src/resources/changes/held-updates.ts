import type { Changes } from './change-log.ts';
import type { Subscriber } from './change-feed.ts';

/** Holder that makes several changes come into effect at once; without one each passes as it comes. */
export class HeldUpdates {
  readonly #update: Subscriber;
  #held: Changes = [];
  #holders = 0;
  /** Updates run one at a time. Never rejects. */
  #last: Promise<void> = Promise.resolve();

  constructor(update: Subscriber) {
    this.#update = update;
  }

  readonly take: Subscriber = async (changes) => {
    this.#held = joined(this.#held, changes);
    if (this.#holders === 0) await this.#release();
  };

  /** Runs the work, and makes all changes that were reported meanwhile at its end. Rejects as either does. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#holders++;
    try {
      return await work();
    } finally {
      this.#holders--;
      if (this.#holders === 0) await this.#release();
    }
  }

  #release(): Promise<void> {
    const next = this.#last.then(() => this.#updateNow());
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #updateNow(): Promise<void> {
    const changes = this.#held;
    if (changes.length === 0) return;
    this.#held = [];
    try {
      await this.#update(changes);
    } catch (error) {
      this.#held = joined(changes, this.#held);
      throw error;
    }
  }
}

function joined(before: Changes, after: Changes): Changes {
  return before === 'everything' || after === 'everything' ? 'everything' : [...before, ...after];
}
