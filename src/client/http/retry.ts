import type { ClientError } from './client-error.ts';

export interface RetryPolicy {
  /** Most attempts of a call in all; default 4. */
  maxAttempts: number;
  /** First pause in milliseconds; doubles with every attempt; default 250. */
  baseMs: number;
  /** Longest pause in milliseconds, also of a server that asks for more; default 10,000. */
  maxMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { maxAttempts: 4, baseMs: 250, maxMs: 10_000 };

export interface RetryContext {
  method: string;
  policy: RetryPolicy;
  /** A number in [0, 1). */
  random: () => number;
}

const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);
/** Statuses of an answer that the same call may not get again. */
export const TRANSIENT: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * The pause in milliseconds before an unchanged call is sent again, or undefined when it must not be: never for
 * a call with side effects, nor after a client fault (400, 401, 402, 403, 404, 409, 422), nor when the caller
 * has aborted or the time is up.
 */
export function retryDelay(error: ClientError, context: RetryContext): number | undefined {
  const { policy } = context;
  if (error.final || error.attempts >= policy.maxAttempts) return undefined;
  if (!IDEMPOTENT.has(context.method.toUpperCase())) return undefined;
  if (
    error.status === undefined ? error.code !== 'connection_lost' : !TRANSIENT.has(error.status)
  ) {
    return undefined;
  }
  if (error.retryAfterMs !== undefined) return Math.min(error.retryAfterMs, policy.maxMs);
  const pause = Math.min(policy.baseMs * 2 ** (error.attempts - 1), policy.maxMs);
  return Math.round(pause * (1 + context.random() / 4));
}

/** Milliseconds of a `Retry-After` header (seconds or an HTTP date), or undefined. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
