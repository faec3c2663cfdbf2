import type { SpendLimits } from '../principal.ts';

/** Nano-dollars of one scope in one window: the charged amount, and the bound of open calls. */
export interface Spend {
  settled: number;
  reserved: number;
}

/** The counter of one scope: window name → spend. Windows that are over are dropped. */
export type SpendRecord = Record<string, Spend>;

/** The windows that an instant falls in (UTC): `life`, a day `2026-11-21` and a month `2026-11`. */
export interface Windows {
  readonly life: 'life';
  readonly day: string;
  readonly month: string;
}

export const DAY_MS = 86_400_000;
const NOTHING: Spend = Object.freeze({ settled: 0, reserved: 0 });
/** The running window and the one before, for calls that end after midnight. */
const KEPT_WINDOWS = 2;
/** Windows that seem to lie ahead, of a day and of a month. */
const LATER_WINDOWS = 4;
const DAY_LENGTH = '2026-11-21'.length;
const MONTH_LENGTH = '2026-11'.length;

export function windowsOf(at: number): Windows {
  return windowsOfDay(new Date(at).toISOString().slice(0, DAY_LENGTH));
}

export function windowsOfDay(day: string): Windows {
  return { life: 'life', day, month: day.slice(0, MONTH_LENGTH) };
}

export function hasLimit(limits: SpendLimits | null): limits is SpendLimits {
  return (
    limits !== null &&
    (limits.lifetime !== undefined || limits.day !== undefined || limits.month !== undefined)
  );
}

/** The one that begins earlier; another clock may be far ahead. */
export function earlierOf(one: Windows, other: Windows): Windows {
  return other.day < one.day ? other : one;
}

/** Adds to all three windows, in place; negative amounts take back. */
export function addSpend(record: SpendRecord, windows: Windows, change: Readonly<Spend>): void {
  for (const window of [windows.life, windows.day, windows.month]) {
    const spend = (record[window] ??= { ...NOTHING });
    spend.settled += change.settled;
    spend.reserved += change.reserved;
  }
}

export function spendIn(record: SpendRecord, window: string): Readonly<Spend> {
  return record[window] ?? NOTHING;
}

/** Returns the spent and reserved amounts of a scope, by window. */
export type SpendOf = (window: string) => Readonly<Spend>;

/** True when a window's limit is reached: even a call that costs nothing is refused. */
export function isSpent(limits: SpendLimits, windows: Windows, spendOf: SpendOf): boolean {
  return someWindow(limits, windows, (window, limit) => spendOf(window).settled >= limit);
}

/**
 * True when the rest of a limit, with all open calls at their bound, is less than the call's bound, or when the
 * sum of reservations would no longer be exact: it could not be released.
 */
export function exceedsLimit(
  limits: SpendLimits,
  { windows, bound, held = bound }: SpendCall,
  spendOf: SpendOf,
): boolean {
  return someWindow(limits, windows, (window, limit) => {
    const { settled, reserved } = spendOf(window);
    return settled + reserved + bound > limit || !(reserved + held <= Number.MAX_SAFE_INTEGER);
  });
}

/** Amount left in the window that has least of it, with all open calls at their bound. */
export function leftOf(limits: SpendLimits, windows: Windows, spendOf: SpendOf): number {
  let least = Infinity;
  someWindow(limits, windows, (window, limit) => {
    const { settled, reserved } = spendOf(window);
    // Finite also without a limit: as much as can be counted.
    least = Math.min(least, Math.min(limit, Number.MAX_SAFE_INTEGER) - settled - reserved);
    return false;
  });
  return least;
}

/** The window of a limit that has least left, as a name of limits, with its limit and its spend. */
export function tightestOf(
  limits: SpendLimits,
  windows: Windows,
  spendOf: SpendOf,
): Spend & { readonly per: keyof SpendLimits; readonly most: number } {
  const found = PERIODS.flatMap(([per, name]) => {
    const most = limits[per];
    return most === undefined ? [] : [{ per, most, ...spendOf(windows[name]) }];
  });
  const leftIn = (one: (typeof found)[number]): number => one.most - one.settled - one.reserved;
  const [first, ...others] = found;
  if (!first) return { per: 'lifetime', most: Infinity, ...NOTHING };
  return others.reduce((least, one) => (leftIn(one) < leftIn(least) ? one : least), first);
}

const PERIODS = [
  ['lifetime', 'life'],
  ['day', 'day'],
  ['month', 'month'],
] as const;

export interface SpendCall {
  readonly windows: Windows;
  /** The most that it can cost. */
  readonly bound: number;
  /** Amount that it reserves. Default: the bound. */
  readonly held?: number | undefined;
}

function someWindow(
  limits: SpendLimits,
  { life, day, month }: Windows,
  test: (window: string, limit: number) => boolean,
): boolean {
  return (
    (limits.lifetime !== undefined && test(life, limits.lifetime)) ||
    (limits.day !== undefined && test(day, limits.day)) ||
    (limits.month !== undefined && test(month, limits.month))
  );
}

/**
 * The record without windows that are over and that no open call holds anything in, as of the windows that were
 * written. Later ones stay, of which a clock that was wrong may have made some.
 */
export function withoutPastWindows(record: SpendRecord, { day, month }: Windows): SpendRecord {
  const names = Object.keys(record);
  if (names.length <= 1 + 2 * KEPT_WINDOWS) return record;
  const kept = new Set(['life', ...keptOf(names, day), ...keptOf(names, month)]);
  return Object.fromEntries(
    Object.entries(record).filter(([name, { reserved }]) => kept.has(name) || reserved !== 0),
  );
}

/** Names of the same length as the running one that stay: the one before it, it, and the next one. */
function keptOf(names: readonly string[], running: string): string[] {
  const all = names.filter(({ length }) => length === running.length).sort();
  const place = all.findIndex((name) => name >= running);
  if (place < 0) return all.slice(-1);
  const before = KEPT_WINDOWS - 1;
  return all.slice(Math.max(0, place - before), place + 1 + LATER_WINDOWS);
}
