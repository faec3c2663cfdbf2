import type { Entry, Key, Op, Store, Version } from '../../store/store.ts';
import { rateScope } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import type { Slice, Slices } from '../slices/slices.ts';
import type { Claim, ClaimDraft, ClaimedIn, ClaimWindow } from './claims.ts';
import { PendingClaim } from './pending-claim.ts';
import type { PendingClaimOptions } from './pending-claim.ts';
import { RatePlaces } from './rate-places.ts';
import { addCounts, countOne, hasRoom, noRequests, subtractCounts } from './rate-shares.ts';
import type { Caller, RateCounts, RateShares } from './rate-shares.ts';
import type { Moment } from './step-watch.ts';

/** Stores claims together with the calls that they are for. */
export interface ClaimLedger {
  /** True as long as this process holds exclusive mode: its journal keeps claims. */
  readonly isJournaling: boolean;
  /** Slots that are set aside for this process. */
  readonly slices: Slices;
  /** Number of the last line that the store is known to hold. */
  readonly folded: number;
  /** Keeps a claim that is decided; returns the number of its line. */
  add(window: ClaimWindow, claim: Pick<Claim, 'caller' | 'at' | 'slice'>): number;
  /** Lets the store decide, in one commit with the calls that begin in this turn. Throws `persistence_failed`. */
  ask(claim: PendingClaim): void;
}

const WINDOW_MS = 60_000;
const ENTRY_TTL_MS = WINDOW_MS;
/** The head numbers the entries, so it outlasts them all. */
export const HEAD_TTL_MS = 10 * WINDOW_MS;
const PAGE = 10_000;
/** Expired entries that are removed in one step. */
const MAX_PAST = 10_000;

/** Requests accepted at one instant. */
interface Accepted {
  /** Elapsed time of this process. */
  readonly at: number;
  readonly counts: RateCounts;
}

/**
 * Row of them in the store: the wall clock's time, all, and if there were any the others of {@link
 * RateCounts}.
 */
type AcceptedRow = [at: number, all: number, refused?: number, admin?: number];

/** A request that only the journal knows of. */
interface Noted extends Accepted {
  /** Number of its line. */
  readonly number: number;
}

/**
 * The requests accepted in the last 60 seconds under one cap. The store has a head, which every commit replaces
 * on the condition that it is the one known, and one small entry per commit; so a commit costs the same at
 * every cap, and entries of other processes are read only when one got in between. Slots are released by
 * elapsed time: the wall clock only gives the age of others' entries, as far as it did not step meanwhile and
 * never as older than the last look.
 */
export class RateWindow implements ClaimWindow {
  readonly name: Key;
  readonly #store: Store;
  readonly #look: () => Moment;
  readonly #folded: () => number;
  readonly #places: RatePlaces | undefined;
  pending = 0;
  /** Requests that count, oldest first; other processes can only have added to it. */
  #accepted: Accepted[] = [];
  /** Those before it no longer count. */
  #first = 0;
  #inWindow = noRequests();
  /** Those among them that this process has not stored, in order of their numbers. */
  #noted: Noted[] = [];
  /** Marks the known entries as outdated: all have to be read again. */
  #isStale = false;
  #head: Entry<number> | undefined;
  #known = false;
  #reading: Promise<void> | undefined;
  /** Elapsed time when the head was last known to be the newest. */
  #seen = -Infinity;

  constructor(options: {
    store: Store;
    look: () => Moment;
    name: Key;
    /** Number of the last line of the journal that the store is known to hold. Default: there is no journal. */
    folded?: () => number;
    /** Default: nothing is set aside. */
    slices?: Slices;
  }) {
    this.#store = options.store;
    this.#look = options.look;
    this.name = options.name;
    this.#folded = options.folded ?? (() => 0);
    const { slices } = options;
    this.#places = slices && new RatePlaces({ slices, window: this });
  }

  get scope(): Scope {
    return rateScope(this.name);
  }

  asideOf(who: 'own' | 'others'): number {
    return this.#places?.[who] ?? 0;
  }

  /** Nothing counts and no request waits. */
  get idle(): boolean {
    return this.pending === 0 && this.count().all === 0;
  }

  /** No request is admitted, as far as is known here. */
  isFull({ all }: RateShares): boolean {
    return this.count().all >= all;
  }

  /** False when there is no room, true when the journal keeps the claim; else the store decides. */
  claim(asked: Omit<PendingClaimOptions, 'window'>, ledger: ClaimLedger): boolean | PendingClaim {
    const { shares, caller, after } = asked;
    if (!hasRoom(shares, this.count(), caller)) return false;
    this.#places?.fit(shares);
    const slice = after || caller !== 'client' ? undefined : this.#places?.take();
    if (slice) {
      this.#note(caller, ledger, slice);
      return true;
    }
    if (ledger.isJournaling && this.#known && this.pending === 0 && !after) {
      this.#note(caller, ledger);
      return true;
    }
    const claim = new PendingClaim({ ...asked, window: this });
    ledger.ask(claim);
    this.pending++;
    return claim;
  }

  /** Reads the entries of others, after `forget`. Rejects with `StoreError`. */
  async load(): Promise<void> {
    if (this.#known) return;
    // Two at once would count each row twice.
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  /** Another process changed it, or could have. */
  forget(): void {
    this.#known = false;
  }

  draft({ noted, taken, isFreed }: ClaimedIn): ClaimDraft {
    const head = this.#head;
    const rows: Op[] = [];
    let total = head?.value ?? 0;
    for (const [at, counts] of [[noted?.at, noted?.counts] as const, [undefined, taken] as const]) {
      if (!counts) continue;
      total += counts.all;
      rows.push(this.#rowOf({ total, at, counts }));
    }
    const condition = head ? { ifVersion: head.version } : { ifAbsent: true as const };
    const places = this.#places?.draft({ noted, taken, isFreed });
    return {
      ops: [
        { type: 'put', key: this.name, value: total, ttlMs: HEAD_TTL_MS, ...condition },
        ...rows,
        ...(places?.ops ?? []),
      ],
      keep: (version) => {
        places?.keep(version);
        const last = noted?.last ?? 0;
        this.#noted = this.#noted.filter(({ number }) => number > last);
        if (this.#head === head) {
          this.#succeed(total, version);
          if (taken) this.#add({ at: this.#seen, counts: { ...taken } });
        } else {
          // It was read meanwhile, with or without these.
          this.#isStale = true;
          this.#known = false;
        }
      },
    };
  }

  /** Accepts a request that only the journal knows of until it is folded. */
  #note(caller: Caller, ledger: ClaimLedger, slice?: Slice): void {
    const { elapsed, wall } = this.#look();
    const at = Math.ceil(elapsed);
    const last = this.#accepted.at(-1);
    const counts = noRequests();
    countOne(counts, caller);
    this.#noted.push({ at, counts, number: ledger.add(this, { caller, at: wall, slice }) });
    if (last?.at === at) {
      addCounts(last.counts, counts);
      addCounts(this.#inWindow, counts);
    } else this.#add({ at, counts: { ...counts } });
    // No other process can have changed the head.
    if (!slice) this.#seen = elapsed;
  }

  /** `at`: default now. */
  #rowOf({
    total,
    at,
    counts,
  }: {
    readonly total: number;
    readonly at: number | undefined;
    readonly counts: Readonly<RateCounts>;
  }): Op {
    const { wall } = this.#look();
    const age = at === undefined ? 0 : Math.max(0, wall - at);
    const ttlMs = Math.max(1, ENTRY_TTL_MS - age);
    return { type: 'put', key: [...this.name, total], value: toRow(at ?? wall, counts), ttlMs };
  }

  /** Notes the head as of now, not of the decision: a commit that took long releases no slot early. */
  #succeed(total: number, version: Version): void {
    this.#head = { key: this.name, value: total, version };
    this.#seen = this.#look().elapsed;
  }

  /** Reads the entries of others since then. */
  async #read(): Promise<void> {
    this.#dropStored();
    const isRecent = this.#look().elapsed - this.#seen < WINDOW_MS;
    let after = isRecent && this.#head ? [...this.name, this.#head.value] : undefined;
    const head = await this.#store.get<number>(this.name);
    const until = head?.value ?? 0;
    const rows: Entry<AcceptedRow>[] = [];
    for (;;) {
      const page = await this.#store.list<AcceptedRow>({
        prefix: this.name,
        limit: PAGE,
        ...(after ? { after } : {}),
      });
      rows.push(...page);
      if (page.length < PAGE) break;
      after = page.at(-1)?.key.slice();
    }
    await this.#places?.load(this.#store);
    const moment = this.#look();
    for (const { key, value } of rows) {
      const total = Number(key.at(-1));
      const at = moment.elapsed - this.#ageOf(value[0], moment);
      if (total <= until) this.#add({ at, counts: fromRow(value) });
    }
    if (this.#noted.length > 0) this.#sort();
    // Marked at the end: of a read that failed half way, nothing may be taken for known.
    this.#head = head;
    this.#seen = moment.elapsed;
    this.#known = true;
  }

  /** Forgets all but the claims that the store does not have, once others have stored some of them. */
  #dropStored(): void {
    const folded = this.#folded();
    const isStored = (this.#noted[0]?.number ?? Infinity) <= folded;
    if (!isStored && !this.#isStale) return;
    this.#isStale = false;
    this.#noted = this.#noted.filter(({ number }) => number > folded);
    this.#accepted = [];
    this.#first = 0;
    this.#inWindow = noRequests();
    this.#head = undefined;
    this.#seen = -Infinity;
    for (const { at, counts } of this.#noted) this.#add({ at, counts: { ...counts } });
  }

  /**
   * Age of an entry that another process accepted since the last look. Made before a step of the wall clock, it
   * can be as young as the step.
   */
  #ageOf(at: number, { wall, elapsed, steppedAt }: Moment): number {
    const age = Math.max(0, wall - at);
    const sinceStep = elapsed - steppedAt;
    const isBeforeStep = steppedAt > this.#seen && (wall < at || age > sinceStep);
    return Math.min(isBeforeStep ? sinceStep : age, elapsed - this.#seen);
  }

  #sort(): void {
    this.#accepted = this.#accepted.slice(this.#first).sort((one, other) => one.at - other.at);
    this.#first = 0;
  }

  #add(accepted: Accepted): void {
    this.#accepted.push(accepted);
    addCounts(this.#inWindow, accepted.counts);
  }

  freeAt(shares: RateShares, caller: Caller): number {
    const counts = { ...this.count() };
    const { wall, elapsed } = this.#look();
    let free = elapsed;
    for (let place = this.#first; !hasRoom(shares, counts, caller); place++) {
      const one = this.#accepted[place];
      // Slots that workers have set aside are free again within a second or two.
      if (!one) break;
      free = one.at + WINDOW_MS;
      subtractCounts(counts, one.counts);
    }
    return Math.ceil(wall + Math.max(0, free - elapsed));
  }

  count(): Readonly<RateCounts> {
    const end = this.#look().elapsed - WINDOW_MS;
    for (let one = this.#accepted[this.#first]; one; one = this.#accepted[++this.#first]) {
      if (one.at > end) break;
      subtractCounts(this.#inWindow, one.counts);
    }
    if (this.#first >= MAX_PAST || this.#first === this.#accepted.length) {
      this.#accepted.splice(0, this.#first);
      this.#first = 0;
    }
    return this.#inWindow;
  }
}

function toRow(at: number, { all, refused, admin }: RateCounts): AcceptedRow {
  return refused === 0 && admin === 0 ? [at, all] : [at, all, refused, admin];
}

function fromRow([, all, refused = 0, admin = 0]: AcceptedRow): RateCounts {
  return { all, refused, admin };
}
