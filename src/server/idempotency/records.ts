import { covers } from '../../core/access.ts';
import type { Rights } from '../../core/access.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Sealer } from '../../core/seal.ts';
import type { Store, Version } from '../../store/store.ts';
import { isStoreTrouble } from '../../store/is-store-trouble.ts';
import { dropAnswer, readAnswer } from './kept-answers.ts';
import type { KeptAnswer } from './kept-answers.ts';
import { OwnedCall } from './owned-call.ts';
import { keyOf } from './row.ts';
import type { CallOwner, CallPlace, CallTrace, KeptHead, NameRow } from './row.ts';
import type { CallWorkers } from './workers.ts';
import { writeLater } from './write-later.ts';

export type Claim =
  | OwnedCall
  | { readonly type: 'answered'; readonly answer: KeptAnswer }
  /** An answer was given that was too much to keep. */
  | { readonly type: 'forgotten' }
  | { readonly type: 'other-body' }
  /** The key may do less than when the call was made. */
  | { readonly type: 'fewer-rights' }
  | { readonly type: 'under-way' }
  /** Its process died after it may have acted outside the store. */
  | { readonly type: 'unknown'; readonly trace: CallTrace };

/** An attempt at a call. */
export interface Attempt {
  readonly place: CallPlace;
  readonly fingerprint: string;
  /** Rights that the key has now. */
  readonly rights: Rights;
  /** `req_…` */
  readonly request: string;
}

export interface IdempotencyRecords {
  /** Rejects with `StoreError`. */
  claim(attempt: Attempt): Promise<Claim>;
  /** Claims as {@link claim} does; resolves with undefined for a call of which nothing is known. */
  claimKnown(attempt: Attempt): Promise<Claim | undefined>;
  /** The known calls with one name, the oldest first. Rejects with `StoreError`. */
  callsAlike(place: CallPlace): Promise<CallPlace[]>;
  /**
   * Ends an attempt of a {@link CallPlace.call}: one whose client got the answer is forgotten, so
   * that no other gets it; any other is left to the next attempt. Failures are reported.
   */
  settle(attempt: Pick<Attempt, 'place' | 'request'>, wasTold: boolean): Promise<void>;
  /** Calls `listener` at changes of the record, and now and then for nothing. */
  watch(place: CallPlace, listener: () => void): () => void;
}

export interface RecordsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly workers: CallWorkers;
  /** Receives errors of answers that could not be kept. */
  report(error: unknown): void;
}

const UNDER_WAY: Claim = { type: 'under-way' };

interface Seen {
  readonly row: NameRow;
  readonly version: Version;
}

export function createIdempotencyRecords(deps: RecordsDeps): IdempotencyRecords {
  return new Records(deps);
}

/**
 * Names of calls in the store, which expire by themselves. One that is under way belongs to the attempt
 * that claimed it for as long as its process lives; nothing is renewed.
 */
class Records implements IdempotencyRecords {
  readonly #deps: RecordsDeps;
  /** Requests of this process that hold a name, with promises of their last write. */
  readonly #holding = new Map<string, Promise<void>>();

  constructor(deps: RecordsDeps) {
    this.#deps = deps;
  }

  async claim(attempt: Attempt): Promise<Claim> {
    return (await this.claimKnown(attempt)) ?? this.#take(attempt);
  }

  async claimKnown(attempt: Attempt): Promise<Claim | undefined> {
    const found = await this.#deps.store.get<NameRow>(keyOf(attempt.place));
    if (!found) return undefined;
    const { value: row, version } = found;
    const { owner, answer, trace, isUnknown, rights } = row;
    if (row.fingerprint !== attempt.fingerprint) return { type: 'other-body' };
    if (rights && !covers(attempt.rights, rights)) return { type: 'fewer-rights' };
    if (isUnknown && trace) return { type: 'unknown', trace };
    if (owner && !(await this.#isGone(owner))) return UNDER_WAY;
    const seen = { row, version };
    if (answer) return this.#giveAgain(attempt, seen, answer);
    return owner === undefined ? UNDER_WAY : this.#takeOver(attempt, seen);
  }

  async callsAlike(place: CallPlace): Promise<CallPlace[]> {
    const prefix = keyOf(place);
    const found = await this.#deps.store.list({ prefix });
    return found.map(({ key }) => ({ ...place, call: String(key[prefix.length]) }));
  }

  async settle(attempt: Pick<Attempt, 'place' | 'request'>, wasTold: boolean): Promise<void> {
    const { request } = attempt;
    await this.#holding.get(request);
    const write = (): Promise<void> => this.#drop(attempt, wasTold);
    const onEnd = (): void => void this.#holding.delete(request);
    try {
      await write();
      onEnd();
    } catch (error) {
      this.#deps.report(error);
      if (isStoreTrouble(error)) writeLater(write, { ...this.#deps, onEnd });
      else onEnd();
    }
  }

  watch(place: CallPlace, listener: () => void): () => void {
    return this.#deps.store.watch(keyOf(place), listener);
  }

  #isGone(owner: CallOwner): boolean | Promise<boolean> {
    const { workers } = this.#deps;
    if (owner.worker !== workers.own.worker) return workers.isGone(owner);
    return !this.#holding.has(owner.request);
  }

  async #take(attempt: Attempt, seen?: Seen, trace?: CallTrace): Promise<Claim> {
    const { place, fingerprint, rights, request } = attempt;
    const owner: CallOwner = { ...this.#deps.workers.own, request };
    const row = { fingerprint, rights, owner, ...(trace && { trace }) };
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const version = await this.#hold(attempt, { row, seen }, ended);
    if (version === undefined) return UNDER_WAY;
    const onEnd = place.call === undefined ? (): void => void this.#holding.delete(request) : end;
    return new OwnedCall({ ...this.#deps, key: keyOf(place), place, row, version, onEnd });
  }

  /** Takes over a call whose owner is gone. */
  async #takeOver(attempt: Attempt, seen: Seen): Promise<Claim> {
    const { place, fingerprint, rights } = attempt;
    const { trace } = seen.row;
    if (!trace || trace.made !== undefined) return this.#take(attempt, seen, trace);
    const value: NameRow = { fingerprint, rights, trace, isUnknown: true };
    const ifVersion = seen.version;
    const done = await this.#deps.store.commit([
      { type: 'put', key: keyOf(place), value, ttlMs: place.keepMs, ifVersion },
    ]);
    return done.ok ? { type: 'unknown', trace } : UNDER_WAY;
  }

  async #giveAgain(attempt: Attempt, seen: Seen, head: KeptHead): Promise<Claim> {
    const { place, request } = attempt;
    const answer = await readAnswer(keyOf(place), head, this.#deps);
    if (!answer) return { type: 'forgotten' };
    if (place.call === undefined) return { type: 'answered', answer };
    const row = { ...seen.row, owner: { ...this.#deps.workers.own, request } };
    const version = await this.#hold(attempt, { row, seen }, Promise.resolve());
    return version === undefined ? UNDER_WAY : { type: 'answered', answer };
  }

  /** Writes the row of an attempt that holds the name from now on; undefined where another was faster. */
  async #hold(
    { place, request }: Attempt,
    { row, seen }: { row: NameRow; seen: Seen | undefined },
    ended: Promise<void>,
  ): Promise<Version | undefined> {
    const condition = seen ? { ifVersion: seen.version } : { ifAbsent: true as const };
    const op = { type: 'put', key: keyOf(place), value: row, ttlMs: place.keepMs } as const;
    // The name is held before the commit, so that this process does not take it for a dead one's.
    this.#holding.set(request, ended);
    try {
      const done = await this.#deps.store.commit([{ ...op, ...condition }]);
      if (done.ok) return done.version;
    } catch (error) {
      this.#holding.delete(request);
      throw error;
    }
    this.#holding.delete(request);
    return undefined;
  }

  async #drop(
    { place, request }: Pick<Attempt, 'place' | 'request'>,
    wasTold: boolean,
  ): Promise<void> {
    const { store } = this.#deps;
    const key = keyOf(place);
    const found = await store.get<NameRow>(key);
    if (!found) return;
    const { value: row, version: ifVersion } = found;
    if (row.owner && row.owner.request !== request) return;
    if (wasTold) {
      const parts = row.answer ? dropAnswer(key, row.answer) : [];
      await store.commit([{ type: 'delete', key, ifVersion }, ...parts]);
    } else if (row.owner) {
      const value: NameRow = { ...row, owner: null };
      await store.commit([{ type: 'put', key, value, ttlMs: place.keepMs, ifVersion }]);
    }
  }
}
