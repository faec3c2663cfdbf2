import type { Clock } from '../core/time/clock.ts';
import type { GatewayError } from '../core/errors.ts';
import { addUsage, NO_USAGE } from '../core/usage.ts';
import type { Usage } from '../core/usage.ts';
import type { SkippedRoute } from '../routing/plan.ts';
import type { AttemptRecord, Estimate, RequestOutcome } from '../usage/ledger/ledger.ts';
import { priceOf, costOf, estimateTokens } from '../usage/spend/pricing.ts';
import type { Call, CallRecord, Consumption } from './types.ts';

const NOTHING: Consumption = { usage: NO_USAGE, outputChars: 0 };

export interface Ending {
  status: number;
  result: RequestOutcome['result'];
  errorCode?: string | undefined;
  limit?: RequestOutcome['limit'];
  /** Absent: nothing billable was produced. */
  consumption?: Consumption | undefined;
}

/**
 * Writes the final record of a call; the first ending counts (design: inference, steps 6 and 7). Gives
 * what the client's last bytes wait for, where a spending limit applies.
 */
export function settleCall(call: Call, ending: Ending, clock: Clock): Promise<void> | undefined {
  const { record, request } = call;
  const { startedAt } = request;
  const now = clock.monotonic();
  const { billed, estimated } = billedOf(call, ending.consumption ?? NOTHING);
  const { answeredBy } = record;
  const charged = withDiscarded(call, billed, ending.consumption !== undefined);
  // A task is charged when it is completed, which may be later.
  record.cost = charged.unpriced || !ending.consumption ? undefined : charged.cost;
  call.entry.settle({
    status: ending.status,
    result: ending.result,
    errorCode: ending.errorCode,
    limit: ending.limit,
    answeredBy: answeredBy && {
      model: answeredBy.model.id,
      provider: answeredBy.route.provider.name,
      upstreamModel: answeredBy.route.upstreamModel,
    },
    attempts: withSpared(record),
    ...charged,
    estimated,
    losses: record.losses,
    overheadUs: Math.round(((record.sentAt ?? now) - startedAt) * 1000),
    firstContentMs:
      record.firstContentAt === undefined ? null : Math.round(record.firstContentAt - startedAt),
    totalMs: Math.round(now - startedAt),
    content: call.content?.take(),
  });
  return call.entry.settled;
}

/** Ends a call that failed before anything billable reached the client. Gives the same as `settleCall`. */
export function settleError(
  call: Call,
  error: GatewayError,
  clock: Clock,
): Promise<void> | undefined {
  const aborted = call.request.client.gone;
  return settleCall(
    call,
    {
      status: aborted ? 499 : error.status,
      result: aborted ? 'aborted' : 'error',
      errorCode: aborted ? undefined : error.code,
      limit: error.limit,
    },
    clock,
  );
}

/** The sums of a call: of its answer, if it has one, and of every 200 that was discarded before it. */
function withDiscarded(
  { record, request }: Call,
  answered: Usage,
  isDue: boolean,
): Pick<RequestOutcome, 'usage' | 'cost' | 'unpriced'> {
  const pricing = isDue && !request.free ? record.answeredBy?.route.pricing : undefined;
  let usage = answered;
  const charge = pricing && priceOf(answered, pricing);
  let cost = charge?.cost ?? 0;
  let unpriced = charge?.unpriced;
  for (const { discarded } of record.attempts) {
    if (!discarded) continue;
    usage = addUsage(usage, discarded.usage);
    cost += discarded.cost;
    unpriced ||= discarded.unpriced;
  }
  return { usage, cost, unpriced };
}

/** Skipped candidates are recorded, too. */
function withSpared({ attempts, skipped }: CallRecord): AttemptRecord[] {
  if (skipped.length === 0) return attempts;
  const spared = sparedAttempts(skipped).filter(
    ({ provider, model }) =>
      !attempts.some((one) => one.provider === provider && one.model === model),
  );
  return spared.length === 0 ? attempts : [...spared, ...attempts];
}

/** Routes that were not asked although they speak the protocol. */
export function sparedAttempts(skipped: readonly SkippedRoute[]): AttemptRecord[] {
  return skipped
    .filter(({ reason }) => reason !== 'protocol')
    .map(({ route, reason }) => {
      return {
        provider: route.provider.name,
        model: route.upstreamModel,
        status: null,
        outcome: reason,
        ms: 0,
        verdict: 'next route',
      };
    });
}

/** Usage of a call whose provider counted nothing, by the sizes of the request and the generated text. */
export function estimateUsage({ inputBytes, model }: Asked, outputChars: number): Usage {
  // Media in a prompt has many more bytes than tokens.
  const most = model.contextWindow ?? Infinity;
  return {
    ...NO_USAGE,
    input: Math.min(estimateTokens(inputBytes), most),
    output: estimateTokens(outputChars),
  };
}

type Asked = Pick<Call, 'inputBytes' | 'model'>;

/**
 * Usage that a call is charged for. A stream without its proper end may only have reported the usage of its
 * beginning, so at least an estimate of the output counts, also where that report was the last word.
 */
function billedOf(
  call: Call,
  { usage, outputChars, ended = true }: Consumption,
): { billed: Usage; estimated: boolean } {
  if (usage && ended) return { billed: usage, estimated: false };
  const guess = estimateUsage(call, outputChars);
  if (!usage) return { billed: guess, estimated: true };
  const estimated = guess.output > usage.output;
  return { billed: estimated ? { ...usage, output: guess.output } : usage, estimated };
}

/** Cost of a stream under way, by the bytes sent to the client. */
export function costSoFar(call: Call, { usage, outputChars }: Consumption): Estimate {
  const estimated = estimateUsage(call, outputChars);
  const told = usage ?? estimated;
  const output = Math.max(told.output, estimated.output);
  const pricing = call.request.free ? {} : (call.record.answeredBy?.route.pricing ?? {});
  const cost = costOf({ ...told, output }, pricing);
  return { input: totalInput(told), output, cost };
}

const totalInput = ({ input, cacheRead, cacheWrite5m, cacheWrite1h }: Usage): number =>
  input + cacheRead + cacheWrite5m + cacheWrite1h;
