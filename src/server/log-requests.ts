import type { Log } from '../core/log.ts';
import type { Ledger, RequestOutcome, RequestStart } from '../usage/ledger.ts';

/** One line for every request that has a record (requirement ops.log.content-off). */
export function logRequests(ledger: Ledger, log: Log): Ledger {
  return {
    begin(start) {
      const entry = ledger.begin(start);
      let settled = false;
      return {
        admitted: entry.admitted,
        durable: entry.durable,
        settle(outcome) {
          if (!settled) log.info('request', toFields(start, outcome));
          settled = true;
          entry.settle(outcome);
        },
      };
    },
    checkFunds: (principal) => ledger.checkFunds(principal),
    drain: () => ledger.drain(),
  };
}

function toFields(
  { id, principal, surface, model }: RequestStart,
  outcome: RequestOutcome,
): Record<string, unknown> {
  const { attempts, usage } = outcome;
  return {
    request_id: id,
    key_id: principal.keyId,
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
