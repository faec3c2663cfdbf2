import type { TurnState } from './turn-state.ts';

/** Events that are read again sooner than they are kept. */
const SHORT = 16;
/** Characters of all that is kept, in memory about as many bytes. */
const MAX_CHARS = 8 * 1024 * 1024;

/**
 * States of Sessions between two turns, for the process that ran the last one: events never change, so the
 * next turn reads only later ones, however long the conversation is. A state belongs to one turn at
 * a time, which takes it from here. The ones that were put here first go first.
 */
export class KeptStates {
  readonly #states = new Map<string, TurnState>();
  #chars = 0;

  /** Gives a state away to the caller; undefined where a turn must read from the beginning. */
  take(id: string): TurnState | undefined {
    const state = this.#states.get(id);
    if (!state) return undefined;
    this.#states.delete(id);
    this.#chars -= state.chars;
    return state;
  }

  /** Takes a state that its turn is done with. */
  keep(id: string, state: TurnState): void {
    this.take(id);
    if (state.seq <= SHORT || state.chars > MAX_CHARS) return;
    this.#states.set(id, state);
    this.#chars += state.chars;
    for (const oldest of this.#states.keys()) {
      if (this.#chars <= MAX_CHARS) return;
      this.take(oldest);
    }
  }
}
