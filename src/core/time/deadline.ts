const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Lengths are written as a number of one of these. */
const UNITS = [SECOND, MINUTE, HOUR, 24 * HOUR] as const;
const MAX_COUNT = 511;
/** Parts of a millisecond that a double still holds in addition to instants until the year 2109. */
const PARTS = 2_048;
/** Clocks of hosts that share a store may differ by so much. */
export const CLOCK_SLACK_MS = 10_000;

/**
 * The instant, in milliseconds since the epoch, at which something ends that begins now and lasts `ms`. The
 * part after its point holds that length in whole seconds, minutes, hours or days (rounded up, 511 of a unit at
 * most), so that a deadline from a clock that was ahead differs from a late one. At `now + ms` it has passed;
 * one millisecond before it has not.
 */
export function toDeadline(now: number, ms: number): number {
  const end = Math.ceil(now + ms);
  const code = encode(ms);
  return code === 0 ? end : end - 1 + code / PARTS;
}

/** Length that a deadline was made with; undefined for an instant that holds none. */
export function lengthOf(deadline: number): number | undefined {
  if (!Number.isFinite(deadline)) return undefined;
  const code = Math.round((deadline - Math.floor(deadline)) * PARTS);
  const unit = UNITS[Math.floor(code / (MAX_COUNT + 1))];
  const count = code % (MAX_COUNT + 1);
  return unit === undefined || count === 0 ? undefined : count * unit;
}

/** True for a deadline that was made by a clock ahead of this one by more than 10 seconds. */
export function isFromAhead(deadline: number, now: number): boolean {
  const length = lengthOf(deadline);
  return length !== undefined && deadline - length > now + CLOCK_SLACK_MS;
}

/** The deadline itself, or its length from now on when a clock that was ahead made it. */
export function correctDeadline(deadline: number, now: number): number {
  return isFromAhead(deadline, now) ? toDeadline(now, lengthOf(deadline) ?? 0) : deadline;
}

/** Milliseconds until a deadline, never more than its length; none or less when it has passed. */
export function timeLeft(deadline: number, now: number): number {
  return Math.min(Math.ceil(deadline) - now, lengthOf(deadline) ?? Infinity);
}

/** Zero for a length that no unit holds. */
function encode(ms: number): number {
  const exact = UNITS.findIndex((unit) => ms % unit === 0 && ms / unit <= MAX_COUNT);
  const index = exact >= 0 ? exact : UNITS.findIndex((unit) => ms / unit <= MAX_COUNT);
  const unit = UNITS[index];
  return unit === undefined || ms <= 0 ? 0 : index * (MAX_COUNT + 1) + Math.ceil(ms / unit);
}
