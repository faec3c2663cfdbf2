/** A number of seconds, or a number with the unit `ms`, `s`, `m`, `h` or `d`. */
export type Duration = number | string;

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const SHAPE = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/;

/**
 * Milliseconds, rounded to whole ones.
 *
 * @throws RangeError for anything that is not a duration of at least 0
 */
export function parseDuration(value: Duration): number {
  const match = SHAPE.exec(String(value).trim());
  const ms = match ? Number(match[1]) * (UNITS[match[2] ?? 's'] as number) : Number.NaN;
  if (!Number.isSafeInteger(Math.round(ms))) {
    throw new RangeError(`not a duration: ${JSON.stringify(value)}; write 500ms, 30s, 5m or 1h`);
  }
  return Math.round(ms);
}
