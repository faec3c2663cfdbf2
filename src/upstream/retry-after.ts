import type { UpstreamHeaders } from './transport.ts';

/** A provider cannot take a candidate away for longer than this. */
const MAX_MS = 10 * 60 * 1000;

/**
 * Time after which a provider accepts another attempt, in ms from `now` (ms since the epoch), 0 to 10 minutes.
 * Reads `retry-after-ms`, then `retry-after` as seconds or as a date (RFC 9110, 10.2.3); undefined when neither
 * is there or readable.
 */
export function retryAfterMs(headers: UpstreamHeaders, now: number): number | undefined {
  const ms = number(headers['retry-after-ms']);
  if (ms !== undefined) return bounded(ms);
  const value = headers['retry-after'];
  const seconds = number(value);
  if (seconds !== undefined) return bounded(seconds * 1000);
  // Date.parse takes '-5' for a year: an HTTP date begins with the day's name.
  const date =
    typeof value === 'string' && /^[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : bounded(date - now);
}

function number(value: string | string[] | undefined): number | undefined {
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim())
    ? Number(value)
    : undefined;
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), MAX_MS);
}
