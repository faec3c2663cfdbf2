import type { Clock, Timer } from '../time/clock.ts';

/** Part of the whole beyond which one holder gets no room for a further thing. */
const LARGEST_SHARE = 7 / 8;

export interface ByteBudgetOptions {
  readonly clock: Clock;
  /** Bytes that may be held at once. */
  readonly bytes: number;
  /** Longest wait for room, in milliseconds. */
  readonly waitMs: number;
  /** Most that wait at once. */
  readonly maxWaiting: number;
  /** Runs when something has to wait while nothing else does. */
  onWaiting?(): void;
}

/** A request for room that could not be met at once. */
export interface Waiting {
  /** True: the bytes are held. False: the wait was too long, the list too full, or it was given up. */
  readonly admitted: Promise<boolean>;
  /** Gives the wait up; without effect once it is over. */
  cancel(): void;
}

/** Room that is asked for. */
export interface RoomAsked {
  readonly holder: string;
  readonly bytes: number;
  /** Bytes that the same thing has already, where it grows. Default 0. */
  readonly own?: number;
}

interface Entry extends RoomAsked {
  readonly timer: Timer;
  readonly end: (admitted: boolean) => void;
}

/**
 * Bounds the bytes that all holders together keep in memory. Room that becomes free goes to the holder
 * that would then hold fewest bytes, so that many or large requests of one do not starve the others;
 * among equals to the one that waits longest. Nothing overtakes the first in this order, and one
 * holder leaves an eighth of the whole to the others.
 */
export class ByteBudget {
  readonly #options: ByteBudgetOptions;
  /** Bytes by holder; none for those that hold nothing. */
  readonly #held = new Map<string, number>();
  /** Entries in the order of arrival. */
  readonly #waiting: Entry[] = [];
  #used = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  /** Bytes that may be held at once. */
  get bytes(): number {
    return this.#options.bytes;
  }

  /** Bytes that are held. */
  get used(): number {
    return this.#used;
  }

  /** Requests for room that wait, and the bytes they ask for. */
  get waiting(): { readonly count: number; readonly bytes: number } {
    const bytes = this.#waiting.reduce((sum, entry) => sum + entry.bytes, 0);
    return { count: this.#waiting.length, bytes };
  }

  /** True: the bytes are held from now on. No waiting request is overtaken. */
  tryTake(asked: RoomAsked): boolean {
    const isTurn = this.#waiting.length === 0;
    if (!isTurn || this.#used + asked.bytes > this.bytes || !this.#isFair(asked)) return false;
    this.#take(asked);
    return true;
  }

  /** Waits for room in turn. More than the whole is never admitted. */
  wait(asked: RoomAsked): Waiting {
    const { clock, waitMs, onWaiting } = this.#options;
    if (this.#waiting.length === 0) onWaiting?.();
    let resolve: (admitted: boolean) => void = () => undefined;
    const admitted = new Promise<boolean>((settle) => (resolve = settle));
    const timer = clock.setTimeout(() => this.#end(entry, false), waitMs);
    const entry: Entry = { ...asked, timer, end: resolve };
    this.#waiting.push(entry);
    this.#admitNext();
    if (this.#waiting.length > this.#options.maxWaiting) this.#end(this.#last(), false);
    return { admitted, cancel: () => this.#end(entry, false) };
  }

  /** Gives bytes back that the holder has. */
  giveBack(holder: string, bytes: number): void {
    const left = this.#heldBy(holder) - bytes;
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
    this.#used -= bytes;
    if (this.#waiting.length > 0) this.#admitNext();
  }

  #heldBy(holder: string): number {
    return this.#held.get(holder) ?? 0;
  }

  #take({ holder, bytes }: RoomAsked): void {
    this.#held.set(holder, this.#heldBy(holder) + bytes);
    this.#used += bytes;
  }

  #isFair({ holder, bytes, own = 0 }: RoomAsked): boolean {
    const held = this.#heldBy(holder);
    return held === own || held + bytes <= this.bytes * LARGEST_SHARE;
  }

  /** Holders that have their share wait for their own bytes, so they keep no other holder waiting. */
  #admitNext(): void {
    for (;;) {
      const first = this.#pick(
        this.#waiting.filter((entry) => this.#isFair(entry)),
        (one, best) => one < best,
      );
      if (!first || this.#used + first.bytes > this.bytes) return;
      this.#take(first);
      this.#end(first, true);
    }
  }

  /** The one that gives way when too many wait: the newest of those that would hold most. */
  #last(): Entry {
    return this.#pick(this.#waiting, (one, worst) => one >= worst) as Entry;
  }

  #pick(
    entries: readonly Entry[],
    isBetter: (one: number, other: number) => boolean,
  ): Entry | undefined {
    let best: Entry | undefined;
    let bestBytes = 0;
    for (const entry of entries) {
      const bytes = this.#heldBy(entry.holder) + entry.bytes;
      if (best && !isBetter(bytes, bestBytes)) continue;
      best = entry;
      bestBytes = bytes;
    }
    return best;
  }

  #end(entry: Entry, admitted: boolean): void {
    const at = this.#waiting.indexOf(entry);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    entry.timer.cancel();
    entry.end(admitted);
    // The next in turn may be smaller than the one that left.
    if (!admitted && this.#waiting.length > 0) this.#admitNext();
  }
}
