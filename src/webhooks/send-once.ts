import type { Clock } from '../core/time/clock.ts';
import { guardedFetch, UrlFetchError } from '../upstream/guard/guarded-fetch.ts';
import { UrlGuardError } from '../upstream/guard/url-guard-error.ts';
import type { UrlGuard } from '../upstream/guard/url-guard.ts';
import type { DeliveryAttempt } from './delivery.ts';

const TIMEOUT_MS = 10_000;
/** Most bytes of the answer, which are discarded. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export interface OutgoingMessage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/**
 * One attempt: 10 seconds for everything, no redirects, the address checked when it is connected to.
 * Rejects only when `signal` is aborted.
 */
export async function sendOnce(
  { url, headers, body, signal }: OutgoingMessage,
  { guard, clock }: { guard: UrlGuard; clock: Clock },
): Promise<DeliveryAttempt> {
  const at = clock.now();
  const startedAt = clock.monotonic();
  const toAttempt = (status: number | null, outcome: string): DeliveryAttempt => ({
    at,
    status,
    outcome,
    ms: Math.round(clock.monotonic() - startedAt),
  });
  try {
    const { status } = await guardedFetch(guard, url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'agent-gateway', ...headers },
      body,
      maxBytes: MAX_ANSWER_BYTES,
      timeoutMs: TIMEOUT_MS,
      maxRedirects: 0,
      signal,
    });
    return toAttempt(status, outcomeOf(status));
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof UrlGuardError) return toAttempt(null, 'refused');
    if (error instanceof UrlFetchError) return toAttempt(null, error.reason);
    throw error;
  }
}

function outcomeOf(status: number): string {
  if (status >= 200 && status < 300) return 'delivered';
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}
