import { correctDeadline, isFromAhead, toDeadline } from '../../core/time/deadline.ts';
import type { State } from '../store/stored.ts';

/** The values of one key: their stored digests, never the values themselves. */
export interface KeyValues {
  /** Hash of the current value. */
  readonly hash: string;
  readonly hint: string;
  /** RFC 3339; null for a key that was never rotated. */
  readonly rotated_at: string | null;
  /** The value before the current one; it works until its deadline. */
  readonly former: FormerValue | null;
  /** Hashes of earlier values, the newest last. */
  readonly ended: readonly string[];
}

export interface FormerValue {
  readonly hash: string;
  readonly hint: string;
  /** A deadline that knows its length, see `toDeadline`. */
  readonly until: number;
}

/** Value that ends at once when a rotation begins while another is under way. */
export type EndingValue = 'former' | 'current';

export interface Rotation {
  readonly hash: string;
  readonly hint: string;
  /** Milliseconds since epoch. */
  readonly now: number;
  /** Milliseconds for which the value before this one still works. */
  readonly overlapMs: number;
  /** Needed while both values work and the overlap is not 0. */
  readonly end: EndingValue | undefined;
}

/** Ended values that are distinct from unknown ones; older ones answer as unknown. */
const MAX_ENDED = 100;

export function readValues(state: State): KeyValues {
  return {
    hash: String(state['hash']),
    hint: String(state['hint']),
    rotated_at: (state['rotated_at'] as string | null | undefined) ?? null,
    former: (state['former'] as FormerValue | null | undefined) ?? null,
    ended: (state['ended'] as string[] | undefined) ?? [],
  };
}

/** Hashes of every value that the key had, as far as they are kept. */
export function hashesOf({ hash, former, ended }: KeyValues): string[] {
  return [hash, ...(former ? [former.hash] : []), ...ended];
}

/** True while the former value of a rotation works in addition to the current one. */
export function isOverlapping({ former }: KeyValues, now: number): boolean {
  return former !== null && correctDeadline(former.until, now) > now;
}

/** Values after a rotation: never more than two of them work. */
export function rotated(values: KeyValues, rotation: Rotation): KeyValues {
  const { hash, hint, now, overlapMs, end } = rotation;
  const { former } = values;
  const current = { hash: values.hash, hint: values.hint };
  const isCurrentEnding = end === 'current' && isOverlapping(values, now);
  const kept = former && isCurrentEnding ? { hash: former.hash, hint: former.hint } : current;
  const over = [former, current].flatMap((one) => (one && one.hash !== kept.hash ? one.hash : []));
  const ended = [...values.ended, ...over, ...(overlapMs > 0 ? [] : [kept.hash])];
  return {
    hash,
    hint,
    rotated_at: new Date(now).toISOString(),
    former: overlapMs > 0 ? { ...kept, until: toDeadline(now, overlapMs) } : null,
    ended: ended.slice(-MAX_ENDED),
  };
}

/** The former value, its own length from now on when a clock that was ahead wrote its deadline. */
export function correctFormer(former: FormerValue, now: number): FormerValue {
  if (!isFromAhead(former.until, now)) return former;
  return { ...former, until: correctDeadline(former.until, now) };
}
