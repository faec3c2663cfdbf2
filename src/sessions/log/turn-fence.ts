import type { SessionRow } from '../session-row.ts';

/**
 * Name of one go at the turns of a Session. An append that carries it is refused from the moment at which
 * another go has entered its own name into the row.
 */
export class TurnFence {
  readonly #turn: string;
  /** Name that the row had when the go began; undefined when the go is entered before its first append. */
  readonly #former: string | null | undefined;

  /**
   * With `former` the name is entered by the first append, in the same commit. That is for a run that cannot
   * have begun before: where two may be at work, the name must be there before anything is read.
   */
  constructor(turn: string, former?: string | null) {
    this.#turn = turn;
    this.#former = former;
  }

  /** True while no other runner has entered a name since, nor ended the Session, which enters none. */
  owns({ turn, status }: Pick<SessionRow, 'turn' | 'status'>): boolean {
    if (turn === this.#turn) return true;
    return this.#former !== undefined && turn === this.#former && status !== 'terminated';
  }

  /** The row with the name; the go counts from then on. */
  enter(row: SessionRow): SessionRow {
    if (row.turn === this.#turn) return row;
    return { ...row, turn: this.#turn, goes: (row.goes ?? 0) + 1 };
  }
}
