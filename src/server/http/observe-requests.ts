import type { Log } from '../../core/log.ts';
import type { Budget } from '../../usage/budgets/budget.ts';
import type { Ledger, RequestOutcome, RequestStart } from '../../usage/ledger/ledger.ts';
import { ObservedEntry } from '../../usage/ledger/observed-entry.ts';
import type { KnownStart, RequestSignals } from '../../usage/requests/live/request-signals.ts';

/** Start of a record as observers see it. */
export type ObservedStart = KnownStart;

/** Receives each record, once, when it is final. */
export type RequestObserver = (start: ObservedStart, outcome: RequestOutcome) => void;

export interface Observation {
  readonly observers: readonly RequestObserver[];
  /** Signals whose listener receives every request that begins. */
  readonly signals: RequestSignals;
  /** Receives the budgets that calls do not fit into, with the refusal. */
  onExceeded(budget: Budget, start: RequestStart, refusal: unknown): void;
}

/** A ledger that reports settled requests to observers, and begun ones to the listener. */
export function observeRequests(
  ledger: Ledger,
  { observers, signals, onExceeded }: Observation,
): Ledger {
  return {
    begin(start) {
      const entry = new ObservedEntry(ledger.begin(start), (outcome) => {
        for (const observe of observers) observe(start, outcome);
      });
      if (signals.listener) tellBeginning(start, entry, signals);
      // Calls without a limit are let in at once.
      entry.admitted?.catch((refusal: unknown) => {
        if (entry.refusedBy) onExceeded(entry.refusedBy, start, refusal);
      });
      return entry;
    },
    checkFunds: (principal) => ledger.checkFunds(principal),
    drain: () => ledger.drain(),
  };
}

/** Signals the begin once it is durable, unless the request is settled by then. */
function tellBeginning(start: RequestStart, entry: ObservedEntry, signals: RequestSignals): void {
  entry.durable.then(
    () => (entry.isSettled ? undefined : signals.listener?.begun(start)),
    () => undefined,
  );
}

/** Signals ends to the listener; most of the time there is none. */
export function signalRequests(signals: RequestSignals): RequestObserver {
  return (start, outcome) => signals.listener?.ended(start, outcome);
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
  const causes = attempts.flatMap(({ provider, cause, address = '' }) =>
    cause === undefined ? [] : [`${provider}: ${cause} ${address}`.trim()],
  );
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
    ...(causes.length > 0 && { causes: [...new Set(causes)].join(', ') }),
    input_tokens: usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h,
    output_tokens: usage.output,
    cost_nanos: outcome.cost,
    first_content_ms: outcome.firstContentMs,
    total_ms: outcome.totalMs,
    overhead_us: outcome.overheadUs,
  };
}
