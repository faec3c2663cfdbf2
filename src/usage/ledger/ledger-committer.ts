import { StoreError } from '../../store/store.ts';
import type { Key, Store } from '../../store/store.ts';
import { createFence } from './fence.ts';
import type { Fence } from './fence.ts';
import type { Job, LedgerCall } from './ledger-call.ts';
import { openKey, requestKey, rosterKey, SLICE, toScope } from './ledger-keys.ts';
import type { Scope } from './ledger-keys.ts';
import type { LedgerState, Plan } from './ledger-plan.ts';
import { readRows } from './read-rows.ts';
import type { ClaimWindow } from '../rates/claims.ts';
import type { EndRow } from '../requests/request-row.ts';
import { giveUp } from '../slices/give-up.ts';
import { workerOf } from '../slices/slice-rows.ts';
import type { SliceRow } from '../slices/slice-rows.ts';
import { USAGE_BY } from '../sums/parts.ts';

/** Sentinel for the number of takeovers; forces a lookup. */
const UNKNOWN = -1;
/** Conflicts in a row; each means that another worker's commit went through. */
const MAX_ATTEMPTS = 200;

export interface Work {
  /** Windows whose claims it stores. */
  windows(): Iterable<ClaimWindow>;
  /** Number of the last line of the journal that it stores; 0: none. */
  readonly last: number;
  /** Calls that it settles. */
  ending(): readonly LedgerCall[];
  /** The counters that the plan needs. */
  scopes(): Iterable<Scope>;
  /** Plans the writes of one attempt; called for each. */
  plan(): Plan;
}

export interface LedgerCommitterOptions {
  readonly store: Store;
  readonly state: LedgerState;
  /** A begin that was refused to the caller is in the store after all. */
  readonly onLanded: (call: LedgerCall) => void;
  /** Default: that of a worker that lives. */
  readonly fence?: Fence;
  /** Called when the store has lost confirmed commits. Default: no call. */
  readonly report?: (error: unknown) => void;
  /** Resolves when others have given up their slices, as far as they do. Default: no recall. */
  readonly recall?: ((scopes: readonly Scope[]) => Promise<void>) | undefined;
}

/** Commits one plan at a time, again and again until no other worker was faster. */
export class LedgerCommitter {
  readonly #options: LedgerCommitterOptions;
  readonly #fence: Fence;
  /** The store has lost commits, and this worker has yet to restart from the stored rows. */
  #isBehind = false;

  constructor(options: LedgerCommitterOptions) {
    this.#options = options;
    this.#fence = options.fence ?? createFence(options.store, options.state.worker);
  }

  /** Number of the last line of the journal that the store is known to hold. */
  get folded(): number {
    return this.#fence.folded;
  }

  /** Gives the number of tries, all but the last of which came too late. Rejects with `StoreError`. */
  async commit(work: Work): Promise<number> {
    const { store, state, recall } = this.#options;
    for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
      // Reads run together: the number of round trips does not depend on the number of changed rows.
      await Promise.all([
        this.#lookUp(work.ending()),
        state.slices.load(store),
        state.counters.load(work.scopes()),
        ...Array.from(work.windows(), (window) => window.load()),
      ]);
      const plan = work.plan();
      if (plan.recalled.length > 0 && recall) {
        await recall(plan.recalled);
        for (const scope of plan.recalled) state.counters.forget(scope);
        for (const window of work.windows()) window.forget();
        continue;
      }
      if (plan.isEmpty) return tries;
      const result = await store
        .commit([this.#fence.next(work.last), ...plan.ops])
        .catch((error: unknown) => {
          if (!isRefused(error)) this.#fence.uncertain(plan);
          throw error;
        });
      if (result.ok) {
        this.#fence.succeeded(result.version);
        plan.keep(result.version);
        return tries;
      }
      await this.#onConflict(result.conflict, plan.jobs, work.windows());
    }
    throw new StoreError('unavailable', 'other workers kept changing the same counters');
  }

  /** Finds out what became of the commits whose outcome is unknown. */
  async reconcile(): Promise<void> {
    const { store, state, onLanded, report } = this.#options;
    const { landed, version, takenOver, isRolledBack } = await this.#fence.reconcile();
    if (landed && version !== undefined) {
      landed.keep(version);
      // A caller whom the journal has answered waits for nothing here.
      for (const { type, call, number } of landed.jobs)
        if (type === 'begin' && number === 0 && !call.refusal) onLanded(call);
    }
    if (isRolledBack) report?.(new Error('the store has lost commits that it confirmed'));
    this.#isBehind ||= isRolledBack;
    if (!takenOver && !this.#isBehind) return;
    state.takeovers++;
    state.unfolded.renew();
    state.slices.drop();
    if (this.#isBehind) await this.#startOver();
    // Its cleaner has struck it off, and no process would clean up again if it died before its next beat.
    const key = rosterKey(state.worker);
    await store.commit([{ type: 'put', key, value: null }]);
  }

  /** Forgets what the store was known to hold: rows that were gone are back, and others are gone. */
  async #startOver(): Promise<void> {
    const { store, state } = this.#options;
    state.counters.forgetAll();
    state.sums.startOver();
    for await (const entry of readRows<SliceRow>(store, SLICE))
      if (workerOf(entry) === state.worker) await giveUp(store, entry);
    this.#isBehind = false;
  }

  async #onConflict(key: Key, jobs: readonly Job[], windows: Iterable<ClaimWindow>): Promise<void> {
    const [room, kind] = key;
    const id = key.at(-1);
    if (room === 'fence' || room === 'slice') this.#options.state.slices.expire();
    if (room === 'fence') {
      await this.reconcile();
    } else if (room === 'slice') {
      this.#options.state.counters.forget(toScope(kind, key[2]));
    } else if (room === 'spend') {
      this.#options.state.counters.forget(toScope(kind, id));
    } else if (room === USAGE_BY[0]) {
      this.#options.state.sums.renewParts();
    } else if (room === 'rpm') {
      for (const window of windows) if (isSameKey(window.name, key)) window.forget();
    } else {
      // Another worker closed it first, on behalf of a worker that it considered dead.
      for (const { call } of jobs) if (call.start.id === id) call.takeovers = UNKNOWN;
    }
  }

  /** Finds the calls that were closed and charged by estimate while others considered this worker dead. */
  async #lookUp(calls: readonly LedgerCall[]): Promise<void> {
    const { store, state } = this.#options;
    const { takeovers, worker } = state;
    const doubtful = calls.filter((call) => call.flight && call.takeovers !== takeovers);
    await Promise.all(
      doubtful.map(async (call) => {
        const { id } = call.start;
        call.hold = (await store.get(openKey(worker, id)))?.version;
        call.lookup = { record: await store.get<EndRow>(requestKey(id)) };
        call.takeovers = takeovers;
      }),
    );
  }
}

function isSameKey(one: Key, other: Key): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index]);
}

/** The store refused the content; every other failure leaves the outcome unknown. */
export function isRefused(error: unknown): boolean {
  return (
    error instanceof StoreError &&
    (error.code === 'too_large' ||
      error.code === 'invalid_key' ||
      error.code === 'invalid_value' ||
      error.code === 'invalid_commit')
  );
}
