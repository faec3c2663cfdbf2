import { usageError } from '../cli-error.ts';
import type { FlagValues } from '../grammar/flags.ts';
import type { FROM, RANGE, SINCE } from '../tables/shared-words.ts';

/** The time of a flag, RFC 3339 in UTC; a date means its first moment. Exit 64 for another. */
export function readTime<N extends string>(
  flags: Readonly<Record<N, string | undefined>>,
  name: N,
): string | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const at = /^\d{4}-\d\d-\d\d(T|$)/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(at))
    throw usageError(
      `--${name} is not a time: ${text}`,
      'write it like 2026-11-21 or 2026-11-21T10:00:00Z',
    );
  return new Date(at).toISOString();
}

/** The beginning that --from or --since names; `now` is milliseconds since epoch. */
export function readBeginning(
  flags: FlagValues<readonly [typeof FROM, typeof SINCE]>,
  now: number,
): string | undefined {
  const since = flags.since;
  return since === undefined ? readTime(flags, 'from') : new Date(now - since).toISOString();
}

/** Reads the range of --from, --since and --to. */
export function readRange(
  flags: FlagValues<typeof RANGE>,
  now: number,
): { from: string | undefined; to: string | undefined } {
  return { from: readBeginning(flags, now), to: readTime(flags, 'to') };
}
