import type { Key, Op, Version } from '../../store/store.ts';
import { createSumRows } from '../ledger/sum-rows.ts';
import type { SumDraft } from '../ledger/sum-rows.ts';
import { lateOp } from './day-digests.ts';
import { FacetNames } from './facet-names.ts';
import type { FacetDraft } from './facet-names.ts';
import { onKey, partKey } from './parts.ts';
import type { PartSum } from './parts.ts';
import { totalsKey } from './totals.ts';
import type { CallFacts } from './totals.ts';

/** Rows that are remembered; more begin again under another name. */
const MAX_ROWS = 10_000;

/** Sums that a call adds to. */
export interface SummedCall {
  readonly facts: CallFacts;
  readonly parts: readonly PartSum[];
}

/** Sums of one commit; nothing counts until `keep`. */
export interface CallSumsDraft {
  /** Adds the amounts of a call to its sums: those of its facts, and those of each of its parts. */
  add(call: SummedCall, amounts: readonly number[]): void;
  ops(): Op[];
  keep(version: Version): void;
}

interface SumsInTheMaking {
  readonly totals: SumDraft;
  readonly parts: SumDraft;
  readonly facets: FacetDraft;
  /** Keys of values that may have had no sums of their day so far, by row. */
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
    const sums: SumsInTheMaking = {
      totals: this.#totals.draft(),
      parts: this.#parts.draft(),
      facets: this.#facets.draft(),
      fresh: new Map(),
    };
    const { totals, parts, facets, fresh } = sums;
    const today = this.#today();
    const late = new Set<string>();
    return {
      add: (call, amounts) => {
        const { day } = call.facts;
        if (day !== today) late.add(day);
        this.#add(sums, call, amounts);
      },
      ops: () => [
        ...facets.ops(),
        ...totals.ops(),
        ...parts.ops(),
        ...Array.from(fresh.values(), (key): Op => ({ type: 'put', key, value: null })),
        ...Array.from(late, lateOp),
      ],
      keep: (version) => {
        facets.keep();
        totals.keep(version);
        parts.keep(version);
      },
    };
  }

  #add(
    { totals, parts, facets, fresh }: SumsInTheMaking,
    { facts, parts: values }: SummedCall,
    amounts: readonly number[],
  ): void {
    const digest = facets.digestOf(facts);
    totals.add(toRow(facts, digest), () => totalsKey(facts, digest, this.#totalsWriter), amounts);
    for (const place of values) {
      const { row } = place;
      if (this.#parts.get(row) === undefined) fresh.set(row, onKey(place));
      parts.add(row, () => partKey({ writer: this.#partsWriter, ...place }), amounts);
    }
  }

  /** Another process folded a row of these: later amounts go to new rows. */
  renewParts(): void {
    this.#parts.clear();
    this.#partsWriter = this.#nextWriter();
  }

  /** Takes nothing for stored any more. */
  startOver(): void {
    this.#facets.startOver();
    this.renewParts();
  }

  /** Keeps memory bounded, between two commits. */
  trim(): void {
    if (this.#parts.size > MAX_ROWS) this.renewParts();
    if (this.#totals.size <= MAX_ROWS) return;
    this.#totals.clear();
    this.#totalsWriter = this.#nextWriter();
  }
}

/** Tags of which there are too many share a digest, and so a row. */
function toRow(
  { facets, row, organization, day, key, model }: CallFacts,
  digest: string | undefined,
): string {
  return facets?.tags ? [organization, day, key, model, digest].join('\0') : row;
}
