export interface WriteOrderOptions<T> {
  keyOf(item: T): string;
  /** Keys of the items that must be done before. */
  needsOf(item: T): string[];
  /** True begins items strictly in their order. */
  isStrict: boolean;
}

/** Gives out items in their order, each once those that it needs are done. */
export class WriteOrder<T> {
  readonly #items: readonly T[];
  readonly #options: WriteOrderOptions<T>;
  /** Number of items that each one still waits for. */
  readonly #missing: number[];
  /** Positions of those that wait for the item of a name. */
  readonly #waiting = new Map<string, number[]>();
  /** Positions of those that may begin, in order. */
  readonly #ready: number[] = [];
  readonly #given = new Set<number>();
  /** Number of items that were given out and are not done. */
  #open = 0;

  constructor(items: readonly T[], options: WriteOrderOptions<T>) {
    this.#items = items;
    this.#options = options;
    const { keyOf, needsOf } = options;
    const names = new Set(items.map((item) => keyOf(item)));
    this.#missing = items.map((item, at) => {
      // Objects that are not written here exist already.
      const needs = new Set(needsOf(item).filter((name) => names.has(name)));
      for (const name of needs) {
        const waiting = this.#waiting.get(name);
        if (waiting) waiting.push(at);
        else this.#waiting.set(name, [at]);
      }
      return needs.size;
    });
    for (const [at, count] of this.#missing.entries()) if (count === 0) this.#ready.push(at);
  }

  /** The first that waits for nothing, or for itself in a circle; undefined when there is none now. */
  next(): T | undefined {
    const mayBegin = !this.#options.isStrict || this.#ready[0] === this.#given.size;
    const at = (mayBegin ? this.#ready.shift() : undefined) ?? this.#stuck();
    if (at === undefined) return undefined;
    this.#given.add(at);
    this.#open += 1;
    return this.#items[at];
  }

  #stuck(): number | undefined {
    if (this.#open > 0 || this.#given.size === this.#items.length) return undefined;
    return this.#items.findIndex((_item, at) => !this.#given.has(at));
  }

  /** Says that an item that was given out is done. */
  done(item: T): void {
    this.#open -= 1;
    for (const at of this.#waiting.get(this.#options.keyOf(item)) ?? []) {
      const left = (this.#missing[at] ?? 0) - 1;
      this.#missing[at] = left;
      if (left === 0 && !this.#given.has(at)) this.#ready.splice(this.#placeOf(at), 0, at);
    }
  }

  /** Index in `#ready` at which a position is inserted. */
  #placeOf(position: number): number {
    let [low, high] = [0, this.#ready.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ready[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
