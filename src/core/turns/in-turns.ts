/** Work that breaks off at every `yield`, where others may have their turn, and returns its result. */
export type Steps<T> = Generator<void, T>;

/** Work on fewer bytes takes some milliseconds at most, and needs no turns. */
export const LONG_BYTES = 64 * 1024;

/** Milliseconds after which a turn ends with the step that is under way. */
const TURN_MS = 2;
/** Elements that one step of {@link eachInSteps} takes. */
const ELEMENTS = 64;

export interface TurnsOptions {
  /** Milliseconds that only ever grow. */
  readonly now: () => number;
  /** Calls back in the next tick of the event loop, after everything that waits for input or output. */
  readonly defer: (turn: () => void) => void;
}

interface Work {
  /** Runs one step; true when it was the last one. */
  readonly step: () => boolean;
}

/**
 * Shares the event loop among all long work: one piece of work has one short turn in each turn of the
 * loop, the others in the turns after it. So others wait for one short turn, however much is under way.
 */
export class Turns {
  readonly #now: () => number;
  readonly #defer: (turn: () => void) => void;
  readonly #waiting: Work[] = [];

  constructor({ now, defer }: TurnsOptions) {
    this.#now = now;
    this.#defer = defer;
  }

  run<T>(steps: Steps<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const step = (): boolean => {
        try {
          const { done, value } = steps.next();
          if (done) resolve(value);
          return done === true;
        } catch (thrown) {
          reject(thrown);
          return true;
        }
      };
      if (this.#waiting.push({ step }) === 1) this.#defer(this.#turn);
    });
  }

  readonly #turn = (): void => {
    const work = this.#waiting.shift() as Work;
    const end = this.#now() + TURN_MS;
    let isDone = work.step();
    while (!isDone && this.#now() < end) isDone = work.step();
    if (!isDone) this.#waiting.push(work);
    if (this.#waiting.length > 0) this.#defer(this.#turn);
  };
}

/**
 * Module state, since the process has one event loop: work that shares its ticks must meet in one queue. Holds
 * nothing once the work is done.
 */
const turns = new Turns({ now: () => performance.now(), defer: setImmediate });

const NOTHING: Steps<void> = (function* nothing() {})();

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Runs steps to their end: at once where there is but one, else in turns that all long work of the
 * process shares.
 */
export function inTurns<T>(steps: Steps<T>): T | Promise<T> {
  const first = steps.next();
  return first.done ? first.value : turns.run(steps);
}

/** Resolves in a turn of its own, before more is done that the event loop cannot break off. */
export function ownTurn(): Promise<void> {
  return turns.run(NOTHING);
}

/** Calls `take` for each element of a list, some in each step. */
export function* eachInSteps<T>(
  list: readonly T[],
  take: (element: T, index: number) => void,
): Steps<void> {
  for (let index = 0; index < list.length; index++) {
    if (index % ELEMENTS === ELEMENTS - 1) yield;
    take(list[index] as T, index);
  }
}

/** Collects the results for each element of a list in one list. */
export function* collectSteps<T, R>(
  list: readonly T[],
  read: (element: T, index: number) => readonly R[],
): Steps<R[]> {
  const all: R[] = [];
  yield* eachInSteps(list, (element, index) => {
    for (const one of read(element, index)) all.push(one);
  });
  return all;
}
