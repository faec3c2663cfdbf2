import type { Key, Op, Version } from '../../store/store.ts';
import { createSumRows } from '../ledger/sum-rows.ts';
import type { SumDraft } from '../ledger/sum-rows.ts';
import { lateOp } from './day-digests.ts';
import { FacetNames } from './facet-names.ts';
import type { FacetDraft } from './facet-names.ts';
import { onKey, partKey, partsOf } from './parts.ts';
import { totalsKey } from './totals.ts';
import type { CallFacts } from './totals.ts';

/** Rows that are remembered; more begin anew under another name. */
const MAX_ROWS = 10_000;

/** Sums of one commit; nothing counts until `keep`. */
export interface CallSumsDraft {
  /** Adds the amounts of a call to its sums: one, and one for each of {@link partsOf}. */
  add(call: CallFacts, amounts: readonly number[]): void;
  ops(): Op[];
  keep(version: Version): void;
}

interface SumsInTheMaking {
  readonly totals: SumDraft;
  readonly parts: SumDraft;
  readonly facets: FacetDraft;
  /** Where values stand that may have had no sums of their day so far, by row. */
  readonly fresh: Map<string, Key>;
}

/** Sums that this worker keeps of the calls that it settles, in rows of its own. */
export class CallSums {
  readonly #nextWriter: () => string;
  readonly #today: () => string;
  readonly #facets = new FacetNames();
  readonly #totals = createSumRows();
  readonly #parts = createSumRows({ isShared: true });
  #totalsWriter: string;
  #partsWriter: string;

  /** `today`: the UTC day that it is. */
  constructor(nextWriter: () => string, today: () => string) {
    this.#nextWriter = nextWriter;
    this.#today = today;
    this.#totalsWriter = nextWriter();
    this.#partsWriter = nextWriter();
  }

  draft(): CallSumsDraft {
    const rows = { totals: this.#totals.draft(), parts: this.#parts.draft() };
    const facets = this.#facets.draft();
    const today = this.#today();
    const late = new Set<string>();
    const fresh = new Map<string, Key>();
    return {
      add: (call, amounts) => {
        if (call.day !== today) late.add(call.day);
        this.#add({ ...rows, facets, fresh }, call, amounts);
      },
      ops: () => [
        ...facets.ops(),
        ...rows.totals.ops(),
        ...rows.parts.ops(),
        ...Array.from(fresh.values(), (key): Op => ({ type: 'put', key, value: null })),
        ...Array.from(late, lateOp),
      ],
      keep: (version) => {
        facets.keep();
        rows.totals.keep(version);
        rows.parts.keep(version);
      },
    };
  }

  #add(
    { totals, parts, facets, fresh }: SumsInTheMaking,
    call: CallFacts,
    amounts: readonly number[],
  ): void {
    const { organization, day, key, model, origin } = call;
    const digest = facets.digestOf(call);
    const name = `${organization}\0${day}\0${key}\0${model}\0${digest ?? ''}`;
    totals.add(name, totalsKey(call, digest, this.#totalsWriter), amounts);
    for (const { part, value } of partsOf(origin)) {
      const place = { part, value, organization, day, writer: this.#partsWriter };
      const row = `${organization}\0${day}\0${part}\0${value}`;
      if (this.#parts.get(row) === undefined) fresh.set(row, onKey(place));
      parts.add(row, partKey(place), amounts);
    }
  }

  /** Somebody folded a row of these: the amounts to come go to new rows. */
  renewParts(): void {
    this.#parts.clear();
    this.#partsWriter = this.#nextWriter();
  }

  /** Keeps memory bounded, between two commits. */
  trim(): void {
    if (this.#parts.size > MAX_ROWS) this.renewParts();
    if (this.#totals.size <= MAX_ROWS) return;
    this.#totals.clear();
    this.#totalsWriter = this.#nextWriter();
  }
}
