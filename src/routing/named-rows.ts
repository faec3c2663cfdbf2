/** Rows found by id and by name, as they are now. */
export class NamedRows<T> {
  readonly #nameOf: (row: T) => string;
  readonly #rows = new Map<string, T>();
  readonly #ids = new Map<string, string>();

  constructor(nameOf: (row: T) => string) {
    this.#nameOf = nameOf;
  }

  byId(id: string): T | undefined {
    return this.#rows.get(id);
  }

  byName(name: string): T | undefined {
    const id = this.#ids.get(name);
    return id === undefined ? undefined : this.#rows.get(id);
  }

  values(): Iterable<T> {
    return this.#rows.values();
  }

  /** Puts a row in the place of the one with its id, or takes that out; gives it. */
  put(id: string, row: T | undefined): T | undefined {
    const before = this.#rows.get(id);
    // Another row may have taken the name over before this one is known to have left it.
    if (before && this.#ids.get(this.#nameOf(before)) === id)
      this.#ids.delete(this.#nameOf(before));
    if (row === undefined) this.#rows.delete(id);
    else {
      this.#rows.set(id, row);
      this.#ids.set(this.#nameOf(row), id);
    }
    return before;
  }
}
