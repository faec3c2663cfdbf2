import type { Clock } from '../../core/time/clock.ts';
import type { Sealer } from '../../core/seal.ts';
import type { Store, Version } from '../../store/store.ts';
import { readAnswer } from './kept-answers.ts';
import type { KeptAnswer } from './kept-answers.ts';
import { OwnedCall } from './owned-call.ts';
import { keyOf } from './row.ts';
import type { CallOwner, CallPlace, CallTrace, NameRow } from './row.ts';
import type { CallWorkers } from './workers.ts';

export type Claim =
  | OwnedCall
  | { readonly type: 'answered'; readonly answer: KeptAnswer }
  /** An answer was given that was too much to keep. */
  | { readonly type: 'forgotten' }
  | { readonly type: 'other-body' }
  | { readonly type: 'under-way' }
  /** Its process died after it may have acted outside the store. */
  | { readonly type: 'unknown'; readonly trace: CallTrace };

/** An attempt at a call. */
export interface Attempt {
  readonly place: CallPlace;
  readonly fingerprint: string;
  /** `req_…` */
  readonly request: string;
}

export interface IdempotencyRecords {
  /** Rejects with `StoreError`. */
  claim(attempt: Attempt): Promise<Claim>;
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

interface Seen {
  readonly row: NameRow;
  readonly version: Version;
}

/**
 * Names of calls in the store, which expire by themselves. One that is under way belongs to the attempt
 * that claimed it for as long as its process lives; nothing is renewed.
 */
export function createIdempotencyRecords(deps: RecordsDeps): IdempotencyRecords {
  const { store, workers } = deps;
  /** Requests of this process that hold a name. */
  const holding = new Set<string>();

  const isGone = (owner: CallOwner): boolean | Promise<boolean> =>
    owner.worker === workers.own.worker ? !holding.has(owner.request) : workers.isGone(owner);

  const take = async (attempt: Attempt, seen?: Seen, trace?: CallTrace): Promise<Claim> => {
    const { place, fingerprint, request } = attempt;
    const key = keyOf(place);
    const owner: CallOwner = { ...workers.own, request };
    const row = { fingerprint, owner, ...(trace && { trace }) };
    const condition = seen ? { ifVersion: seen.version } : { ifAbsent: true as const };
    const put = { type: 'put', key, value: row, ttlMs: place.keepMs, ...condition } as const;
    const onEnd = (): void => void holding.delete(request);
    // Held before the commit, so that nobody here takes the name for that of a dead process.
    holding.add(request);
    try {
      const done = await store.commit([put]);
      if (done.ok) return new OwnedCall({ ...deps, key, place, row, version: done.version, onEnd });
    } catch (error) {
      onEnd();
      throw error;
    }
    onEnd();
    return { type: 'under-way' };
  };

  /** Nobody makes the call any more. */
  const takeOver = async (attempt: Attempt, seen: Seen): Promise<Claim> => {
    const { place, fingerprint } = attempt;
    const { trace } = seen.row;
    if (place.isFirst) return take(attempt, seen);
    if (!trace || trace.made !== undefined) return take(attempt, seen, trace);
    const value: NameRow = { fingerprint, trace, isUnknown: true };
    const ifVersion = seen.version;
    const done = await store.commit([
      { type: 'put', key: keyOf(place), value, ttlMs: place.keepMs, ifVersion },
    ]);
    return done.ok ? { type: 'unknown', trace } : { type: 'under-way' };
  };

  return {
    async claim(attempt) {
      const { place, fingerprint } = attempt;
      const key = keyOf(place);
      const found = await store.get<NameRow>(key);
      if (!found) return take(attempt);
      const { value: row, version } = found;
      const { owner, answer, trace, isUnknown } = row;
      if (place.isFirst && (answer || isUnknown)) return take(attempt, { row, version });
      if (row.fingerprint !== fingerprint) return { type: 'other-body' };
      if (isUnknown && trace) return { type: 'unknown', trace };
      if (answer) {
        const kept = await readAnswer(key, answer, deps);
        return kept ? { type: 'answered', answer: kept } : { type: 'forgotten' };
      }
      const isFree = owner === null || (owner && (await isGone(owner)));
      return isFree ? takeOver(attempt, { row, version }) : { type: 'under-way' };
    },
    watch: (place, listener) => store.watch(keyOf(place), listener),
  };
}
