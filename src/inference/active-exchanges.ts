/** Something under way that a stop of the gateway can end. */
export interface ActiveExchange {
  /** The collection's own; undefined outside of it. */
  slot?: number | undefined;
  shutDown(): void;
}

/**
 * Exchanges under way, in no order. An array whose gaps are filled from its end, and no `Set`: one
 * that is added to and deleted from all the time is replaced by V8 every few requests, each table
 * keeps the next alive once it is old, and with it every request it holds until the next full
 * collection.
 */
export class ActiveExchanges {
  readonly #members: ActiveExchange[] = [];
  #begun = 0;

  get size(): number {
    return this.#members.length;
  }

  /** Exchanges that began so far, those that are over included. */
  get begun(): number {
    return this.#begun;
  }

  add(member: ActiveExchange): void {
    if (member.slot !== undefined) return;
    this.#begun++;
    member.slot = this.#members.length;
    this.#members.push(member);
  }

  delete(member: ActiveExchange): void {
    const { slot } = member;
    if (slot === undefined) return;
    member.slot = undefined;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    last.slot = slot;
    this.#members[slot] = last;
  }

  /** Ends them all; they may leave meanwhile. */
  shutDown(): void {
    for (const member of this.#members.slice()) member.shutDown();
  }
}
