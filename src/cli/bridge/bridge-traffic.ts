/** Answers that may be on their way at once; with more, nothing further is read. */
const MAX_OPEN = 32;

/**
 * Answers on their way through a bridge, and the questions to its client that hold some of them up: each
 * leaves room for one more message, since the reply to it has to be read.
 */
export class BridgeTraffic {
  readonly #open = new Set<Promise<void>>();
  readonly #asked = new Set<string>();
  #wake: () => void = () => undefined;

  /** Takes note of an answer; it must not reject. */
  carry(answer: Promise<void>): void {
    const carried = answer.finally(() => {
      this.#open.delete(carried);
      this.#wake();
    });
    this.#open.add(carried);
  }

  /** The client was asked under this id. */
  asked(id: unknown): void {
    this.#asked.add(JSON.stringify(id));
    this.#wake();
  }

  /** Ends the wait for a reply: it arrived, or the request for it has ended. */
  replied(id: unknown): void {
    this.#asked.delete(JSON.stringify(id));
  }

  /** Resolves when one more message may be read. */
  async room(): Promise<void> {
    while (this.#open.size >= MAX_OPEN + this.#asked.size)
      await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  /** Resolves when no answer is on its way. */
  async ended(): Promise<void> {
    await Promise.all(this.#open);
  }
}
