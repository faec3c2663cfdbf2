import type { Listed } from '../api/list-all.ts';

/** Text of a value that is not there. */
export const NONE = '–';

const UNITS: readonly [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
];

/** Milliseconds in words: `2 ms`, `1.2 s`, `3 min 4 s`, `2 h 5 min`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NONE;
  if (ms < 1_000) return `${ms < 10 && ms > 0 ? round(ms, 1) : Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 59_500) return `${Math.round(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return joined([Math.floor(seconds / 60), 'min', seconds % 60, 's']);
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return joined([Math.floor(minutes / 60), 'h', minutes % 60, 'min']);
  return joined([Math.floor(minutes / 1_440), 'd', Math.floor((minutes % 1_440) / 60), 'h']);
}

function joined([much, unit, rest, small]: [number, string, number, string]): string {
  return rest === 0 ? `${much} ${unit}` : `${much} ${unit} ${rest} ${small}`;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Decimal dollars; null is an unknown amount, which is never zero. */
export function money(amount: string | number | null | undefined): string {
  if (amount === undefined) return NONE;
  if (amount === null) return 'unpriced';
  const value = Number(amount);
  if (value === 0) return '$0';
  const size = Math.abs(value);
  const sign = value < 0 ? '-' : '';
  if (size >= 1_000) return `${sign}$${grouped(size.toFixed(0))}`;
  if (size >= 1) return `${sign}$${size.toFixed(2)}`;
  if (size >= 0.001) return `${sign}$${size.toFixed(4)}`;
  if (size >= 0.000_000_1) return `${sign}$${withoutZeros(size.toFixed(7))}`;
  return `${sign}<$0.0000001`;
}

function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/** A whole number with its thousands apart: `1,234,567`. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? NONE : grouped(Math.round(value).toString());
}

/** A number of few digits: `980`, `12.3 k`, `4.1 M`. */
export function compact(value: number): string {
  for (const [size, unit] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k'],
  ] as const)
    if (value >= size)
      return `${round(value / (unit === 'k' ? 1e3 : size), value >= size * 100 ? 0 : 1)} ${unit}`;
  return count(value);
}

function grouped(digits: string): string {
  const first = digits.length % 3 || 3;
  const parts = [digits.slice(0, first)];
  for (let at = first; at < digits.length; at += 3) parts.push(digits.slice(at, at + 3));
  return parts.join(',');
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return NONE;
  const value = share * 100;
  return `${value > 0 && value < 10 ? round(value, 1) : Math.round(value)} %`;
}

/** Distance of an instant from now: `4 s ago`, `in 3 h`. */
export function relative(at: number, now: number): string {
  const gap = now - at;
  const size = Math.abs(gap);
  if (size < 1_000) return 'now';
  const unit = UNITS.find(([ms]) => size >= ms);
  const text = unit ? `${Math.floor(size / unit[0])} ${unit[1]}` : `${Math.floor(size / 1_000)} s`;
  return gap < 0 ? `in ${text}` : `${text} ago`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Time of the day on the viewer's clock, 24 hours: `14:02:11`. */
export function clockTime(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Day and time on the viewer's clock: `2026-11-23 14:02:11`. */
export function dateTime(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clockTime(at)}`;
}

/** Bytes in words: `512 B`, `1.4 KiB`. */
export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`;
  if (size < 1_048_576) return `${round(size / 1_024, 1)} KiB`;
  return `${round(size / 1_048_576, 1)} MiB`;
}

/** Number of the rows of a list that are shown, and whether there are others. */
export function listed({ rows, isCut }: Listed<unknown>, noun: string): string {
  const shown = counted(rows.length, noun);
  return isCut ? `the first ${shown}; there are more` : shown;
}

/** A number with its noun: `1 turn`, `2 turns`. */
export function counted(value: number | null | undefined, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}
