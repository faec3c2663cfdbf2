import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue, shareOf } from '../../src/core/fair-queue.ts';
import type { Waiter } from '../../src/core/fair-queue.ts';

/** Gives places out until nobody gets one; returns who got them. */
function grant<T>(queue: FairQueue<T>): T[] {
  const granted: T[] = [];
  for (let next = queue.next(); next; next = queue.next()) granted.push(next.item);
  return granted;
}

describe('a fair queue', () => {
  it('gives a free place to the holder with fewest, then to the one that waits longest', () => {
    const queue = new FairQueue<string>({ places: 4 });
    for (const holder of ['a', 'a', 'a', 'b']) queue.enter(holder);
    for (const name of ['a1', 'b1', 'c1', 'd1', 'c2']) queue.wait(name.charAt(0), name);
    const order: string[] = [];
    for (const holder of ['a', 'a', 'a', 'b', 'c']) {
      queue.release(holder);
      order.push(...grant(queue));
    }
    expect(order).toEqual(['c1', 'd1', 'a1', 'b1', 'c2']);
  });

  it('takes turns where each of two holders has as many', () => {
    const queue = new FairQueue<string>({ places: 1 });
    queue.enter('a');
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) queue.wait(name.charAt(0), name);
    const order: string[] = [];
    for (let holder = 'a'; queue.waiting > 0; holder = order.at(-1)?.charAt(0) ?? '') {
      queue.release(holder);
      order.push(...grant(queue));
    }
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('keeps the last eighth of places and of room to wait from a holder that is alone', () => {
    const queue = new FairQueue<number>({ places: 16, maxWaiting: 8 });
    const entered = Array.from({ length: 16 }, () => queue.enter('a'));
    expect(entered.filter(Boolean)).toHaveLength(14);
    const waiters = Array.from({ length: 8 }, (_, index) => queue.wait('a', index));
    expect(waiters.filter(Boolean)).toHaveLength(7);
    expect(queue.next()).toBeUndefined();
    expect(queue.enter('b')).toBe(true);
    expect(queue.wait('b', 9)).toBeDefined();
    expect(queue.wait('c', 10)).toBeUndefined();
  });

  it('lets one holder have all of less than eight places', () => {
    const queue = new FairQueue<number>({ places: 2 });
    expect([queue.enter('a'), queue.enter('a'), queue.enter('a')]).toEqual([true, true, false]);
  });

  it('cuts nothing when the places become fewer', () => {
    const queue = new FairQueue<number>({ places: 4 });
    for (let index = 0; index < 4; index++) queue.enter(`k${index}`);
    queue.wait('late', 1);
    queue.places = 2;
    queue.release('k0');
    expect(queue.next()).toBeUndefined();
    queue.release('k1');
    queue.release('k2');
    expect(queue.next()).toMatchObject({ holder: 'late' });
  });
});

type Step = { type: 'ask' | 'end' | 'leave'; holder: string };

const HOLDERS = ['a', 'b', 'c', 'd'];
const steps = fc.array(
  fc.record<Step>({
    type: fc.constantFrom('ask', 'ask', 'end', 'leave'),
    holder: fc.constantFrom(...HOLDERS),
  }),
  { maxLength: 200 },
);

/** A queue with a record of its own of who has and waits for what. */
class Watched {
  readonly held = new Map(HOLDERS.map((holder) => [holder, 0]));
  readonly waiting = new Map(HOLDERS.map((holder) => [holder, [] as Waiter<number>[]]));
  readonly #queue: FairQueue<number>;
  /** Who got a place since a holder that has none began to wait. */
  readonly #passedBy = new Map<string, Set<string>>();

  constructor(queue: FairQueue<number>) {
    this.#queue = queue;
  }

  play({ type, holder }: Step): void {
    if (type === 'ask') this.#ask(holder);
    else if (type === 'leave') this.#leave(holder);
    else if (this.heldBy(holder) > 0) {
      this.#queue.release(holder);
      this.#add(holder, -1);
    }
    for (let next = this.#queue.next(); next; next = this.#queue.next()) this.#granted(next);
  }

  heldBy(holder: string): number {
    return this.held.get(holder) ?? 0;
  }

  #add(holder: string, count: number): void {
    this.held.set(holder, this.heldBy(holder) + count);
  }

  #ask(holder: string): void {
    if (this.#queue.enter(holder)) return this.#add(holder, 1);
    const waiter = this.#queue.wait(holder, 0);
    if (!waiter) return;
    this.waiting.get(holder)?.push(waiter);
    if (this.heldBy(holder) === 0 && !this.#passedBy.has(holder))
      this.#passedBy.set(holder, new Set());
  }

  #leave(holder: string): void {
    const first = this.waiting.get(holder)?.shift();
    if (first) expect(this.#queue.abandon(first)).toBe(true);
    if (this.waiting.get(holder)?.length === 0) this.#passedBy.delete(holder);
  }

  #granted(next: Waiter<number>): void {
    const { holder } = next;
    const waiting = HOLDERS.filter((one) => this.waiting.get(one)?.length);
    expect(this.heldBy(holder)).toBe(Math.min(...waiting.map((one) => this.heldBy(one))));
    expect(this.waiting.get(holder)?.shift()).toBe(next);
    this.#add(holder, 1);
    this.#passedBy.delete(holder);
    for (const [other, seen] of this.#passedBy) {
      if (this.heldBy(other) > 0) continue;
      expect(seen.has(holder)).toBe(false);
      seen.add(holder);
    }
  }
}

/** Plays the steps as a user of the queue would, and looks at every state between them. */
function play(places: number, maxWaiting: number, list: readonly Step[]): void {
  const queue = new FairQueue<number>({ places, maxWaiting });
  const watched = new Watched(queue);
  for (const step of list) {
    watched.play(step);
    const total = [...watched.held.values()].reduce((sum, one) => sum + one, 0);
    expect(queue.used).toBe(total);
    expect(total).toBeLessThanOrEqual(places);
    expect(queue.waiting).toBeLessThanOrEqual(maxWaiting);
    for (const holder of HOLDERS) {
      const held = watched.heldBy(holder);
      expect(held).toBeLessThanOrEqual(shareOf(places));
      // A place is only left empty where nobody who waits may have it.
      if (watched.waiting.get(holder)?.length)
        expect(total === places || held === shareOf(places)).toBe(true);
    }
  }
}

describe('whatever happens in which order, a fair queue', () => {
  it('stays below its bounds, gives to those with fewest, and passes nobody twice', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 }), steps, play),
      { numRuns: 300 },
    );
  });
});
