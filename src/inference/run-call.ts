import type { Clock } from '../core/clock.ts';
import { GatewayError } from '../core/errors.ts';
import type { ProviderAccount } from '../providers/account.ts';
import { buildUpstreamRequest } from '../providers/build-request.ts';
import type { Health } from '../routing/health.ts';
import type { Candidate, Plan } from '../routing/plan.ts';
import type { Transport } from '../upstream/transport.ts';
import { Exchange } from './exchange.ts';
import type { AttemptResult } from './exchange.ts';
import { abortedFailure } from './failures.ts';
import type { AttemptFailure, Call } from './types.ts';

export interface CallDeps {
  clock: Clock;
  health: Health;
  transportFor(account: ProviderAccount): Transport;
  maxAnswerBytes: number;
  /** What is under way, so that a stop can end it in its own protocol. */
  active: Set<{ shutDown(): void }>;
  /** Told of a bug that no answer can tell of any more. */
  onBug(thrown: unknown, requestId: string): void;
}

export type CommittedResult = Exclude<AttemptResult, AttemptFailure>;

/**
 * Tries the candidates in turn until one has content, a fault is the client's own, or none is left.
 * Nothing has reached the client when this resolves.
 *
 * @throws GatewayError what the client is told: `upstream_rejected`, `upstream_timeout`,
 *   `invalid_upstream_response`, `upstream_interrupted` or `no_route_succeeded`
 */
export async function runCall(call: Call, plan: Plan, deps: CallDeps): Promise<CommittedResult> {
  let last: AttemptFailure | undefined;
  let mayHaveActed = false;
  for (const candidate of plan.candidates) {
    const result = await tryCandidate(call, candidate, deps);
    if (result.type !== 'failed') {
      call.record.answeredBy = candidate;
      return result;
    }
    if (result.action === 'fatal') throw result.error;
    mayHaveActed ||= result.error.retry === false;
    last = result;
  }
  const error = last?.error ?? new GatewayError('no_route_succeeded');
  throw mayHaveActed ? withoutRetry(error) : error;
}

/** One of the candidates may have done its work, whatever the last one says. */
function withoutRetry(error: GatewayError): GatewayError {
  if (error.retry === false) return error;
  const { code, message, status, cause } = error;
  return new GatewayError(code, { message, status, retry: false, cause });
}

/** One candidate, once more when its first connection could not be made. */
async function tryCandidate(
  call: Call,
  candidate: Candidate,
  deps: CallDeps,
): Promise<AttemptResult> {
  const first = await attempt(call, candidate, deps);
  if (first.type !== 'failed' || first.action !== 'retry-here') return first;
  return attempt(call, candidate, deps);
}

async function attempt(call: Call, candidate: Candidate, deps: CallDeps): Promise<AttemptResult> {
  // It may have left while no exchange listened for it: before it was admitted, or between two.
  if (call.client.gone) return abortedFailure();
  const { clock } = deps;
  const { route } = candidate;
  const transport = deps.transportFor(route.provider);
  const request = buildUpstreamRequest({
    account: route.provider,
    protocol: call.protocol.id,
    upstreamModel: route.upstreamModel,
    stream: call.peek.stream,
    body: call.protocol.encode(call.peek, {
      model: route.upstreamModel,
      quirks: route.provider.quirks[call.protocol.id],
      askUsage: !route.provider.noStreamUsage,
    }),
  });
  const startedAt = clock.monotonic();
  const result = await new Promise<AttemptResult>((resolve) => {
    const exchange = new Exchange({
      clock,
      call,
      candidate,
      health: deps.health.begin(route),
      maxAnswerBytes: deps.maxAnswerBytes,
      active: deps.active,
      onBug: (thrown) => deps.onBug(thrown, call.id),
      resolve,
    });
    call.record.sentAt ??= startedAt;
    exchange.attach(transport.send(request, exchange));
  });
  const failed = result.type === 'failed';
  call.record.attempts.push({
    provider: route.provider.name,
    model: route.upstreamModel,
    status: failed ? result.upstreamStatus : 200,
    outcome: failed ? result.reason : 'ok',
    ms: Math.round(clock.monotonic() - startedAt),
  });
  return result;
}
