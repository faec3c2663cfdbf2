import type { Clock } from '../core/clock.ts';
import type { GatewayError } from '../core/errors.ts';
import { NO_USAGE } from '../core/usage.ts';
import type { Usage } from '../core/usage.ts';
import type { AttemptRecord, RequestOutcome } from '../usage/ledger.ts';
import { costOf, estimateTokens } from '../usage/pricing.ts';
import type { Call, CallRecord } from './types.ts';

/** What was consumed, as far as it is known when the call is over. */
export interface Consumption {
  usage: Usage | undefined;
  /** Characters that were produced for the client; the basis of an estimate. */
  outputChars: number;
}

const NOTHING: Consumption = { usage: NO_USAGE, outputChars: 0 };

export interface Ending {
  status: number;
  result: RequestOutcome['result'];
  errorCode?: string | undefined;
  /** Absent: nothing billable was produced. */
  consumption?: Consumption | undefined;
}

/** Writes the final record of a call; the first ending counts (design: inference, steps 6 and 7). */
export function settleCall(call: Call, ending: Ending, clock: Clock): void {
  const { record, startedAt } = call;
  const now = clock.monotonic();
  const { usage, outputChars } = ending.consumption ?? NOTHING;
  const estimated = usage === undefined;
  const billed = usage ?? estimateUsage(call, outputChars);
  const answeredBy = record.answeredBy;
  call.entry.settle({
    status: ending.status,
    result: ending.result,
    errorCode: ending.errorCode,
    answeredBy: answeredBy && {
      model: answeredBy.model.id,
      provider: answeredBy.route.provider.name,
      upstreamModel: answeredBy.route.upstreamModel,
    },
    attempts: withSpared(record),
    usage: billed,
    estimated,
    cost:
      ending.consumption && answeredBy && !call.free ? costOf(billed, answeredBy.route.pricing) : 0,
    losses: record.losses,
    overheadUs: Math.round(((record.sentAt ?? now) - startedAt) * 1000),
    firstContentMs:
      record.firstContentAt === undefined ? null : Math.round(record.firstContentAt - startedAt),
    totalMs: Math.round(now - startedAt),
    content: call.content?.take(call.peek.body),
  });
}

/** Ends a call that failed before anything billable reached the client. */
export function settleError(call: Call, error: GatewayError, clock: Clock): void {
  const aborted = call.client.gone;
  settleCall(
    call,
    {
      status: aborted ? 499 : error.status,
      result: aborted ? 'aborted' : 'error',
      errorCode: aborted ? undefined : error.code,
    },
    clock,
  );
}

/** Candidates that were left alone are part of the story, too. */
function withSpared({ attempts, skipped }: CallRecord): AttemptRecord[] {
  if (skipped.length === 0) return attempts;
  const spared = skipped
    .filter(({ reason }) => reason !== 'protocol')
    .map(({ route, reason }): AttemptRecord => {
      return {
        provider: route.provider.name,
        model: route.upstreamModel,
        status: null,
        outcome: reason,
        ms: 0,
      };
    })
    .filter(
      ({ provider, model }) =>
        !attempts.some((one) => one.provider === provider && one.model === model),
    );
  return spared.length === 0 ? attempts : [...spared, ...attempts];
}

function estimateUsage(call: Call, outputChars: number): Usage {
  return {
    ...NO_USAGE,
    input: estimateTokens(call.peek.body.length),
    output: estimateTokens(outputChars),
  };
}
