import { GatewayError } from '../../core/errors.ts';
import type { CommitResult, Key, Op, Store, Version } from '../store.ts';

/** Number of times that another process may come first; each time its row was written. */
const MAX_ATTEMPTS = 100;

export interface LaneHeadsOptions<Head> {
  readonly store: Pick<Store, 'get'>;
  /** Number of commits of one process that are under way at once. */
  readonly lanes: number;
  /** Head of a lane in which nothing was written yet. */
  readonly first: Head;
  keyOf(lane: number): Key;
}

/** Row that a commit adds to its lane, and the head that the lane has then. */
export interface LaneStep<Head> {
  readonly ops: readonly Op[];
  readonly next: Head;
}

interface Known<Head> {
  readonly value: Head;
  /** Undefined where nothing was written in the lane yet. */
  readonly version: Version | undefined;
}

/**
 * Rows in lanes, each without a gap: every commit takes a lane of its own, in which its row follows the one
 * before, also where other processes write there. As many commits run at once as there are lanes.
 */
export class LaneHeads<Head> {
  readonly #options: LaneHeadsOptions<Head>;
  readonly #free: number[];
  readonly #waiting: ((lane: number) => void)[] = [];
  readonly #heads = new Map<number, Known<Head>>();

  constructor(options: LaneHeadsOptions<Head>) {
    this.#options = options;
    this.#free = Array.from({ length: options.lanes }, (_, lane) => lane);
  }

  /**
   * Runs `commit` with the operations of a step and the new head of its lane, again where another process was
   * faster in that lane. Returns the result without that of the lane.
   *
   * @throws GatewayError `conflict` when it never gets through
   */
  async write(
    step: (lane: number, head: Head) => LaneStep<Head>,
    commit: (ops: readonly Op[]) => Promise<CommitResult>,
  ): Promise<CommitResult> {
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      const lane = await this.#enter();
      let isTaken = false;
      try {
        const result = await this.#writeIn(lane, step, commit);
        isTaken = !result.ok && this.#isHead(result.conflict);
        if (!isTaken) return result;
      } finally {
        this.#leave(lane, isTaken);
      }
    }
    throw new GatewayError('conflict', { message: 'too many writers at once; try again' });
  }

  async #writeIn(
    lane: number,
    step: (lane: number, head: Head) => LaneStep<Head>,
    commit: (ops: readonly Op[]) => Promise<CommitResult>,
  ): Promise<CommitResult> {
    const known = this.#heads.get(lane) ?? (await this.#read(lane));
    // The head is known again once the outcome is clear.
    this.#heads.delete(lane);
    const { ops, next } = step(lane, known.value);
    const { version } = known;
    const unmoved = version === undefined ? { ifAbsent: true as const } : { ifVersion: version };
    const key = this.#options.keyOf(lane);
    const result = await commit([...ops, { type: 'put', key, value: next, ...unmoved }]);
    if (result.ok) this.#heads.set(lane, { value: next, version: result.version });
    else if (!this.#isHead(result.conflict)) this.#heads.set(lane, known);
    return result;
  }

  async #read(lane: number): Promise<Known<Head>> {
    const { store, keyOf, first } = this.#options;
    const entry = await store.get<Head>(keyOf(lane));
    return { value: entry?.value ?? first, version: entry?.version };
  }

  #isHead([room]: Key): boolean {
    return room === this.#options.keyOf(0)[0];
  }

  async #enter(): Promise<number> {
    const lane = this.#free.shift();
    return lane ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  #leave(lane: number, isTaken: boolean): void {
    const next = this.#waiting.shift();
    if (next) next(lane);
    else if (isTaken) this.#free.push(lane);
    else this.#free.unshift(lane);
  }
}
