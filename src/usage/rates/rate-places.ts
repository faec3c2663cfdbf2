import type { Store } from '../../store/store.ts';
import { fitted, noteStored, opsOf, roomFor } from '../slices/fit-slice.ts';
import { slicedElsewhere } from '../slices/slice-rows.ts';
import { emptySlice } from '../slices/slices.ts';
import type { Slice, Slices } from '../slices/slices.ts';
import { windowsOfDay } from '../spend/spend.ts';
import type { ClaimDraft, ClaimedIn, ClaimWindow } from './claims.ts';
import type { RateShares } from './rate-shares.ts';

export interface RatePlacesOptions {
  readonly slices: Slices;
  readonly window: ClaimWindow;
}

/** Slots belong to no day: their holder gives them up within seconds. */
const DAY = '';

/** Slots of a rate that workers have set aside: each counts as taken until it is used or given up. */
export class RatePlaces {
  readonly #slices: Slices;
  readonly #window: ClaimWindow;
  /** Slots of other workers, when they were last read. */
  #others = 0;
  #shares: RateShares | undefined;

  constructor({ slices, window }: RatePlacesOptions) {
    this.#slices = slices;
    this.#window = window;
  }

  get others(): number {
    return this.#others;
  }

  get own(): number {
    const slice = this.#slices.of(this.#window.scope);
    return slice ? Math.max(0, slice.amount - slice.used) : 0;
  }

  /** Notes how the cap is divided, by which slices are measured. */
  fit(shares: RateShares): void {
    this.#shares = shares;
  }

  /** Takes a slot that is set aside; undefined where there is none. */
  take(): Slice | undefined {
    return this.#slices.takePlace(this.#window.scope);
  }

  /** Part of a commit that stores the claims; nothing counts until `keep`. */
  draft({ noted, taken, isFreed }: ClaimedIn): ClaimDraft {
    const { scope } = this.#window;
    const known = this.#slices.of(scope);
    const slice = known ?? this.#empty();
    const stored = noted?.slices.filter((one) => one === slice).length ?? 0;
    const used = slice.used - stored;
    const kept = isFreed ? used : Math.max(used, slice.amount - stored);
    const amount = this.#fitted({ ...slice, amount: kept, used }, taken?.all ?? 0);
    slice.planned = { amount, used: stored };
    return {
      ops: opsOf(slice, amount, this.#slices.worker),
      keep: (version) => {
        this.#slices.note(scope, taken?.all ?? 0);
        if (known === undefined && amount === 0) return;
        noteStored(slice, amount, version);
        slice.used -= stored;
        this.#slices.enter(slice);
      },
    };
  }

  /** Reads the slots of others. Rejects with `StoreError`. */
  async load(store: Pick<Store, 'list'>): Promise<void> {
    this.#others = await slicedElsewhere(store, this.#window.scope, this.#slices.worker);
  }

  /** Amount that a slice is to have after a commit that accepts so many requests besides. */
  #fitted(slice: Slice, taken: number): number {
    const shares = this.#slices.isUseful(slice) ? this.#shares : undefined;
    return fitted(slice, shares ? roomFor(slice.bound, this.#left(shares, taken)) : 0);
  }

  /** Slots that are neither taken nor set aside by others. */
  #left({ others }: RateShares, taken: number): number {
    return others - this.#window.count().all - this.#others - taken;
  }

  #empty(): Slice {
    return {
      ...emptySlice(this.#window.scope, windowsOfDay(DAY)),
      bound: 1,
      usedAt: this.#slices.now(),
      window: this.#window,
    };
  }
}
