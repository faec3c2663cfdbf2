import type { Log } from '../../core/log.ts';
import type { Budget } from '../../usage/budgets/budget.ts';
import type { Ledger, RequestOutcome, RequestStart } from '../../usage/ledger/ledger.ts';
import type { PayingKey } from '../../usage/principal.ts';

/** Start of a record as observers see it. */
export interface ObservedStart extends Pick<RequestStart, 'id' | 'surface' | 'model' | 'origin'> {
  readonly principal: PayingKey;
}

/** Receives each record, once, when it is final. */
export type RequestObserver = (start: ObservedStart, outcome: RequestOutcome) => void;

/** A ledger that tells observers what it settles. */
export function observeRequests(
  ledger: Ledger,
  observers: readonly RequestObserver[],
  onExceeded: (budget: Budget, start: RequestStart) => void,
): Ledger {
  return {
    begin(start) {
      const entry = ledger.begin(start);
      let settled = false;
      // Calls without a limit are let in at once.
      entry.admitted?.catch(() => {
        if (entry.refusedBy) onExceeded(entry.refusedBy, start);
      });
      return {
        admitted: entry.admitted,
        durable: entry.durable,
        settled: entry.settled,
        get refusedBy() {
          return entry.refusedBy;
        },
        follow: (soFar) => entry.follow(soFar),
        settle(outcome) {
          if (settled) return;
          settled = true;
          entry.settle(outcome);
          for (const observe of observers) observe(start, outcome);
        },
      };
    },
    checkFunds: (principal) => ledger.checkFunds(principal),
    drain: () => ledger.drain(),
  };
}

/** One line for every request (requirement ops.log.content-off). */
export function logRequests(log: Log): RequestObserver {
  return (start, outcome) => log.info('request', toFields(start, outcome));
}

function toFields(
  { id, principal, surface, model, origin }: ObservedStart,
  outcome: RequestOutcome,
): Record<string, unknown> {
  const { attempts, usage } = outcome;
  return {
    request_id: id,
    key_id: principal.keyId,
    conversation: origin?.conversation,
    surface,
    model,
    provider: outcome.answeredBy?.provider,
    status: outcome.status,
    result: outcome.result,
    error: outcome.errorCode,
    attempts: attempts.map(({ provider, outcome: how }) => `${provider}:${how}`).join(','),
    input_tokens: usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h,
    output_tokens: usage.output,
    cost_nanos: outcome.cost,
    first_content_ms: outcome.firstContentMs,
    total_ms: outcome.totalMs,
    overhead_us: outcome.overheadUs,
  };
}
