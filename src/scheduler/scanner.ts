import type { Clock, Timer } from '../core/time/clock.ts';
import { createSteadyClock, type SteadyClock } from '../core/time/steady-clock.ts';
import { PollLoop } from '../jobs/poll-loop.ts';
import { DUE_PREFIX } from '../resources/store/due-index.ts';
import type { Entry, Store } from '../store/store.ts';
import { StoreError } from '../store/store.ts';
import type { Due } from './claim-due.ts';

/** Rows at the head of the index that one look takes into account. */
const PAGE = 256;
/** Claims at once in this process. */
const AT_ONCE = 64;
/** Nothing due waits longer than this. */
const MAX_SLEEP_MS = 10_000;
/** Longest pause in ms after others claimed most of what this process wanted. */
const STAND_BACK_MS = 50;
/** Time in ms for which a Schedule that cannot be claimed is skipped. */
const AVOID_MS = 60_000;
const MAX_AVOIDED = 100;

export interface ScannerOptions {
  readonly store: Pick<Store, 'list' | 'watch'>;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  random(): number;
  /** Runs before the first look, and before the next one when the wall clock was set back. */
  realign(): Promise<void>;
  /** False when it is not due any more. */
  claim(due: Due): Promise<boolean>;
  /**
   * Receives errors of a store that fails (then without `due`) and of Schedules that cannot be
   * claimed.
   */
  report(error: unknown, due?: Due): void;
}

/**
 * Has due instants claimed: only reads the head of the due index, and sleeps until its first row or until one
 * is put before it. Of several due ones each process claims in an order of its own, so that several seldom want
 * the same.
 */
export class Scanner {
  readonly #options: ScannerOptions;
  readonly #avoided = new Map<string, number>();
  readonly #unwatch: () => void;
  readonly #loop: PollLoop;
  readonly #steady: SteadyClock;
  /** Set-backs of the clock that Schedules were realigned for. */
  #realigned = -1;
  #pause: Timer | undefined;
  #goOn: () => void = () => undefined;

  constructor(options: ScannerOptions) {
    this.#options = options;
    this.#steady = createSteadyClock(options.clock);
    this.#loop = new PollLoop({
      clock: options.clock,
      maxSleepMs: MAX_SLEEP_MS,
      poll: () => this.#claimDue(),
      report: (error) => options.report(error),
    });
    this.#unwatch = options.store.watch(DUE_PREFIX, () => this.#loop.wake());
    this.#loop.wake();
  }

  /** Takes no further ones; resolves when claims under way are done. */
  async close(): Promise<void> {
    const polled = this.#loop.close();
    this.#unwatch();
    this.#pause?.cancel();
    this.#goOn();
    await polled;
  }

  /** Returns how long there is nothing to do, in ms. */
  async #claimDue(): Promise<number> {
    const { store, clock, random } = this.#options;
    await this.#realign();
    const page = await store.list<{ organization: string }>({ prefix: DUE_PREFIX, limit: PAGE });
    const now = clock.now();
    const rows = page.map(toDue).filter((due) => !this.#isAvoided(due));
    const due = rows.filter(({ at }) => at <= now);
    if (due.length === 0) return Math.max(1, (rows[0]?.at ?? Infinity) - now);
    const mine = shuffle(due, random).slice(0, AT_ONCE);
    const outcomes = await Promise.all(mine.map((one) => this.#claim(one)));
    const failed = outcomes.find((outcome) => outcome instanceof StoreError);
    if (failed) throw failed;
    const lost = outcomes.filter((isClaimed) => isClaimed === false).length;
    if (lost > mine.length / 2) await this.#standBack(random() * STAND_BACK_MS);
    return 0;
  }

  async #realign(): Promise<void> {
    const setBacks = this.#steady.setBacks();
    if (setBacks === this.#realigned) return;
    await this.#options.realign();
    this.#realigned = setBacks;
  }

  async #claim(due: Due): Promise<boolean | StoreError> {
    const { claim, report, clock } = this.#options;
    try {
      return await claim(due);
    } catch (error) {
      if (error instanceof StoreError) return error;
      report(error, due);
      if (this.#avoided.size >= MAX_AVOIDED) this.#avoided.clear();
      this.#avoided.set(due.deploymentId, clock.monotonic() + AVOID_MS);
      return false;
    }
  }

  #isAvoided({ deploymentId }: Due): boolean {
    return (this.#avoided.get(deploymentId) ?? 0) > this.#options.clock.monotonic();
  }

  #standBack(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#goOn = resolve;
      this.#pause = this.#options.clock.setTimeout(resolve, ms);
    });
  }
}

function toDue({ key, value }: Entry<{ organization: string }>): Due {
  return { at: Number(key[1]), deploymentId: String(key[2]), organization: value.organization };
}

function shuffle<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
