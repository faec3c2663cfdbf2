import { SliceDraft } from '../slices/slice-draft.ts';
import type { Slice } from '../slices/slices.ts';
import { windowsOfDay } from '../spend/spend.ts';
import { MAX_UNFOLDED } from './fold-schedule.ts';
import { isRefused } from './ledger-committer.ts';
import type { LedgerCommitter, Work } from './ledger-committer.ts';
import type { LedgerState, Plan } from './ledger-plan.ts';
import type { OwnRow } from './unfolded-spend.ts';

/** Slices that one fold gives up: together with the rows it takes, a commit has room for them. */
const MAX_IDLE = 100;

/** The most that one fold takes. */
interface Most {
  readonly rows: number;
  readonly idle: number;
}

/** Portion that one fold takes of all that waits. */
interface Portion {
  readonly rows: readonly OwnRow[];
  /** Slices with unused amounts. */
  readonly idle: readonly Slice[];
}

/**
 * Adds what this worker settled without a limit to the shared counters, stores what the calls cost so far that
 * are followed, and gives up unused slices; less of it at a time where the store refuses so much. True when
 * there are more slices than it took. Rejects with `StoreError`.
 */
export async function fold(committer: LedgerCommitter, state: LedgerState): Promise<boolean> {
  for (let part = 1; ; part /= 2) {
    const most = { rows: Math.ceil(MAX_UNFOLDED * part), idle: Math.ceil(MAX_IDLE * part) };
    const work = new FoldWork(state, most);
    try {
      await committer.commit(work);
      return work.given >= most.idle;
    } catch (error) {
      if (!isRefused(error) || most.rows === 1) throw error;
    }
  }
}

class FoldWork implements Work {
  readonly last = 0;
  readonly #state: LedgerState;
  readonly #most: Most;
  #portion: Portion = { rows: [], idle: [] };

  constructor(state: LedgerState, most: Most) {
    this.#state = state;
    this.#most = most;
  }

  /** Number of slices that it gives up. */
  get given(): number {
    return this.#portion.idle.length;
  }

  ending(): [] {
    return [];
  }

  /** Lists the idle, first in each attempt: what becomes idle while the counters are read waits for the next fold. */
  scopes() {
    const { unfolded, slices } = this.#state;
    const rows = unfolded.take(this.#most.rows);
    this.#portion = { rows, idle: slices.idle(this.#most.idle) };
    return [...rows, ...moneyOf(this.#portion)].map(({ scope }) => scope);
  }

  windows() {
    return windowsIn(this.#portion);
  }

  plan(): Plan {
    return planFold(this.#state, this.#portion);
  }
}

const moneyOf = ({ idle }: Portion): Slice[] => idle.filter(({ window }) => window === undefined);

const windowsIn = ({ idle }: Portion) => idle.flatMap(({ window }) => window ?? []);

function planFold({ counters, unfolded, followed, slices }: LedgerState, portion: Portion): Plan {
  const { rows } = portion;
  const spend = counters.draft();
  const sliced = new SliceDraft(slices, spend);
  const sent = followed.isDue ? followed.draft() : undefined;
  for (const { scope, day, amount } of rows) {
    spend.add(scope, windowsOfDay(day), { settled: amount, reserved: 0 });
  }
  sliced.settleIdle(moneyOf(portion));
  const places = windowsIn(portion).map((window) => window.draft({}));
  const ops = [
    ...unfolded.deletions(rows),
    ...sliced.ops(),
    ...spend.ops(),
    ...(sent?.ops ?? []),
    ...places.flatMap((each) => each.ops),
  ];
  return {
    ops,
    jobs: [],
    isEmpty: ops.length === 0,
    recalled: [],
    keep(version) {
      sent?.keep();
      sliced.keep(version);
      for (const each of places) each.keep(version);
      spend.keep(version);
      unfolded.folded(rows);
    },
  };
}
