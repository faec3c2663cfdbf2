import type { Clock } from '../../core/time/clock.ts';
import type { Op, Store } from '../../store/store.ts';
import { RECALL, recallKey, toScope } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import { readRows } from '../ledger/read-rows.ts';
import { amountsElsewhere } from './slice-rows.ts';
import { RECALL_MS } from './slices.ts';
import type { Slices } from './slices.ts';

export interface RecallOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly slices: Slices;
  /** Stores what began on slices, and gives up the rest. */
  readonly onRecall: () => void;
  readonly report: (error: unknown) => void;
}

/** Milliseconds for which a call waits for a recall of others' slices. */
const PATIENCE_MS = 500;
/** Between two looks at it. */
const LOOK_MS = 5;

/** Calls slices of other workers back, and gives this worker's back when another one asks. */
export class Recall {
  readonly #options: RecallOptions;
  readonly #stop: () => void;

  constructor(options: RecallOptions) {
    this.#options = options;
    this.#stop = options.store.watch(RECALL, () => {
      this.#look().catch(options.report);
    });
  }

  /**
   * Resolves when no other worker has a slice of these scopes, or does not give it up in time: then it counts as
   * a reservation for a while. Rejects with `StoreError`.
   */
  recall = async (scopes: readonly Scope[]): Promise<void> => {
    const { store, clock, slices } = this.#options;
    for (const scope of scopes) slices.bar(scope);
    const ops = scopes.map((scope): Op => {
      return { type: 'put', key: recallKey(scope), value: slices.worker, ttlMs: RECALL_MS };
    });
    await store.commit(ops);
    const until = clock.monotonic() + PATIENCE_MS;
    let held = scopes;
    for (;;) {
      const isHeld = await Promise.all(held.map((scope) => this.#isElsewhere(scope)));
      held = held.filter((_, index) => isHeld[index]);
      if (held.length === 0) return;
      if (clock.monotonic() >= until) break;
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, LOOK_MS));
    }
    for (const scope of held) slices.waive(scope);
  };

  close(): void {
    this.#stop();
  }

  async #isElsewhere(scope: Scope): Promise<boolean> {
    const { store, slices } = this.#options;
    return (await amountsElsewhere(store, scope, slices.worker)).length > 0;
  }

  async #look(): Promise<void> {
    const { store, slices, onRecall } = this.#options;
    if (slices.size === 0) return;
    for await (const { key, value } of readRows<string>(store, RECALL)) {
      const scope = toScope(key[1], key[2]);
      if (value === slices.worker || !slices.of(scope)) continue;
      slices.bar(scope);
      onRecall();
    }
  }
}
