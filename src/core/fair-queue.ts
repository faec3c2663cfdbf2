export interface FairQueueOptions {
  places: number;
  /** Items that may wait; the default is no bound. */
  maxWaiting?: number;
}

/** An item that waits for a slot. */
export interface Waiter<T> {
  readonly holder: string;
  readonly item: T;
}

interface Holder<T> {
  held: number;
  /** Waiters in order of arrival. */
  readonly waiting: Set<Waiter<T>>;
  /** Number of the event since which it waits: its first arrival, or the last slot that it got. */
  since: number;
}

/** All but the last eighth, which one holder never takes; below eight all of them. */
export function shareOf(total: number): number {
  return Math.ceil((total * 7) / 8);
}

/**
 * Slots that several holders share. A free slot goes to the holder that has fewest of them; among equals to the
 * one that has waited longest since it came or last got one. One holder never takes the last eighth, of the
 * slots as of the room to wait, also while it is the only one: the next holder finds a slot although nothing
 * ends. No item loses its slot.
 */
export class FairQueue<T> {
  /** May change at any time; items keep their slots. */
  places: number;
  readonly #maxWaiting: number;
  readonly #holders = new Map<string, Holder<T>>();
  #used = 0;
  #waiting = 0;
  #events = 0;

  constructor({ places, maxWaiting = Infinity }: FairQueueOptions) {
    this.places = places;
    this.#maxWaiting = maxWaiting;
  }

  get used(): number {
    return this.#used;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Slots that one holder has. */
  heldBy(holder: string): number {
    return this.#holders.get(holder)?.held ?? 0;
  }

  /** Takes a slot if there is one for this holder. */
  enter(holder: string): boolean {
    if (this.#used >= this.places || this.heldBy(holder) >= shareOf(this.places)) return false;
    this.occupy(holder);
    return true;
  }

  /** Takes a slot whether there is one or not. */
  occupy(name: string): void {
    const holder = this.#holderOf(name);
    holder.held += 1;
    holder.since = ++this.#events;
    this.#used += 1;
  }

  /** Undefined when too many wait already. */
  wait(name: string, item: T): Waiter<T> | undefined {
    const ofIts = this.#holders.get(name)?.waiting.size ?? 0;
    if (this.#waiting >= this.#maxWaiting || ofIts >= shareOf(this.#maxWaiting)) return undefined;
    const holder = this.#holderOf(name);
    if (ofIts === 0) holder.since = ++this.#events;
    const waiter = { holder: name, item };
    holder.waiting.add(waiter);
    this.#waiting += 1;
    return waiter;
  }

  /** Waits no longer; false when it does not wait. */
  abandon(waiter: Waiter<T>): boolean {
    const holder = this.#holders.get(waiter.holder);
    if (!holder?.waiting.delete(waiter)) return false;
    this.#waiting -= 1;
    this.#forget(waiter.holder, holder);
    return true;
  }

  /** Releases a slot; `next` returns the item that gets it. */
  release(name: string): void {
    const holder = this.#holders.get(name);
    if (!holder || holder.held === 0) return;
    holder.held -= 1;
    this.#used -= 1;
    this.#forget(name, holder);
  }

  /** The next item that gets a slot; undefined when there is none for any that waits. */
  next(): Waiter<T> | undefined {
    if (this.#waiting === 0 || this.#used >= this.places) return undefined;
    const holder = this.#neediest();
    if (!holder) return undefined;
    const [waiter] = holder.waiting;
    if (!waiter) return undefined;
    holder.waiting.delete(waiter);
    this.#waiting -= 1;
    this.occupy(waiter.holder);
    return waiter;
  }

  #neediest(): Holder<T> | undefined {
    const share = shareOf(this.places);
    let best: Holder<T> | undefined;
    for (const holder of this.#holders.values()) {
      if (holder.waiting.size === 0 || holder.held >= share) continue;
      if (!best || isNeedier(holder, best)) best = holder;
    }
    return best;
  }

  #holderOf(name: string): Holder<T> {
    let holder = this.#holders.get(name);
    if (!holder) {
      holder = { held: 0, waiting: new Set(), since: 0 };
      this.#holders.set(name, holder);
    }
    return holder;
  }

  #forget(name: string, holder: Holder<T>): void {
    if (holder.held === 0 && holder.waiting.size === 0) this.#holders.delete(name);
  }
}

function isNeedier<T>(one: Holder<T>, other: Holder<T>): boolean {
  return one.held === other.held ? one.since < other.since : one.held < other.held;
}
