import { Buffer } from 'node:buffer';
import type { Clock } from '../core/time/clock.ts';
import { GatewayError } from '../core/errors.ts';
import { LONG_BYTES } from '../core/turns/in-turns.ts';
import type { SpooledBody } from '../core/memory/spooled-body.ts';
import type { Usage } from '../core/usage.ts';
import { vendorOf } from '../providers/account.ts';
import type { ProviderAccount } from '../providers/account.ts';
import type { EncodeOptions, RequestPeek, Wire } from '../protocols/protocol.ts';
import { wireTo } from '../protocols/wire-to.ts';
import { buildUpstreamRequest } from '../providers/build-request.ts';
import type { Route } from '../routing/catalog.ts';
import type { Health } from '../routing/health.ts';
import type { Candidate, Plan } from '../routing/plan.ts';
import type { Transport, UpstreamRequest } from '../upstream/transport.ts';
import type { AttemptVerdict, Discarded } from '../usage/ledger/ledger.ts';
import { priceOf } from '../usage/spend/pricing.ts';
import { holderOf } from '../usage/principal.ts';
import type { Pricing } from '../usage/usage.ts';
import type { ActiveExchanges } from './active-exchanges.ts';
import { createExchange } from './exchange.ts';
import type { AttemptResult } from './exchange-options.ts';
import { abortedFailure, overdueFailure, unsupportedFailure } from './failures.ts';
import { lendToCandidate } from './lend-to-candidate.ts';
import { toldLosses } from './told-losses.ts';
import type { AttemptFailure, Call } from './types.ts';

const NO_BYTES = Buffer.alloc(0);

export interface CallDeps {
  clock: Clock;
  health: Health;
  /** `holder` gets a share of the provider's connections (see `holderOf`). */
  transportFor(account: ProviderAccount, holder: string): Transport;
  maxAnswerBytes: number;
  /** Most values of an answer that is parsed whole: translated, or rebuilt (config: limits.answer_values). */
  maxAnswerValues: number;
  /** Output tokens asked for where a provider's protocol needs a limit and neither client nor model has one. */
  defaultMaxTokens: number;
  /** Exchanges under way, so that a stop can end each in its own protocol. */
  active: ActiveExchanges;
  /** Reports a bug that no answer can report any more. */
  onBug(thrown: unknown, requestId: string): void;
}

export type CommittedResult = Exclude<AttemptResult, AttemptFailure>;

/**
 * Tries the candidates in turn until one has content, a fault is the client's own, or none is left.
 * Nothing has reached the client when this resolves.
 *
 * @throws GatewayError the client's error: `upstream_rejected`, `upstream_timeout`,
 * `invalid_upstream_response`, `upstream_interrupted`, `no_route_succeeded`, or `unsupported_feature` when
 * every candidate was passed over for a missing capability
 */
export async function runCall(call: Call, plan: Plan, deps: CallDeps): Promise<CommittedResult> {
  let last: AttemptFailure | undefined;
  let mayHaveActed = false;
  const { candidates } = plan;
  for (const candidate of candidates) {
    const turn = { candidate, asked: candidate, isLast: candidate === candidates.at(-1) };
    let result = await attempt(call, turn, deps);
    // Asks once more where the first connection could not be made.
    if (result.type === 'failed' && result.action === 'retry-here') {
      judge(call, 'retried here');
      result = await attempt(call, turn, deps);
    }
    if (result.type !== 'failed') {
      call.record.answeredBy = candidate;
      letGo(call, wireTo(call.request.protocol, candidate.protocol));
      return result;
    }
    const hasActed = result.error.retry === false;
    // A call that may be billed already is not made twice (requirement routing.non-idempotent-no-retry).
    const isBarred = hasActed && !call.request.repeatable;
    judge(call, isBarred || turn.isLast || result.action === 'fatal' ? 'final' : 'next route');
    if (isBarred) throw result.error;
    mayHaveActed ||= hasActed;
    if (result.action === 'fatal') throw told(result.error, mayHaveActed);
    // A candidate that cannot do it says nothing about why the others failed.
    if (!last || result.error.code !== 'unsupported_feature') last = result;
  }
  throw told(last?.error ?? new GatewayError('no_route_succeeded'), mayHaveActed);
}

/** One of the candidates may have done its work, whatever the last one says. */
function told(error: GatewayError, mayHaveActed: boolean): GatewayError {
  return mayHaveActed ? error.with({ retry: false }) : error;
}

/** Adds the verdict to the last attempt, unless it has one: a client that left made none of its own. */
function judge({ record }: Call, verdict: AttemptVerdict): void {
  const last = record.attempts.at(-1);
  if (last) last.verdict ??= verdict;
}

interface Turn {
  readonly candidate: Candidate;
  /** The same, with the credential of this call where its provider takes that of the client. */
  readonly asked: Candidate;
  /** No candidate is tried after it. */
  readonly isLast: boolean;
}

/** Gives a result at once for a candidate that is passed over without being asked. */
function attempt(call: Call, turn: Turn, deps: CallDeps): AttemptResult | Promise<AttemptResult> {
  const { candidate } = turn;
  if (candidate.route.provider.auth.type !== 'client') return attemptAsked(call, turn, deps);
  return lendToCandidate(call, candidate).then((asked) =>
    attemptAsked(call, { ...turn, asked }, deps),
  );
}

function attemptAsked(
  call: Call,
  turn: Turn,
  deps: CallDeps,
): AttemptResult | Promise<AttemptResult> {
  const { route } = turn.candidate;
  if (!call.media) return attemptWith(call.peek, { call, turn, deps });
  return readMedia(call, route).then((peek) => attemptWith(peek, { call, turn, deps }));
}

interface Attempt {
  readonly call: Call;
  readonly turn: Turn;
  readonly deps: CallDeps;
}

function attemptWith(
  peek: RequestPeek | AttemptFailure,
  { call, turn, deps }: Attempt,
): AttemptResult | Promise<AttemptResult> {
  const { candidate, asked } = turn;
  if ('type' in peek) return note(call, asked, { result: peek, ms: 0 });
  const wire = wireTo(call.request.protocol, candidate.protocol);
  const losses: string[] = [];
  const prepared = prepare(call, asked, { peek, wire, losses, deps });
  const sending = { call, turn, deps, wire, losses };
  return prepared instanceof Promise
    ? prepared.then((request) => send(request, sending))
    : send(prepared, sending);
}

interface Sending extends Attempt {
  readonly wire: Wire;
  readonly losses: readonly string[];
}

function send(
  request: Prepared,
  { call, turn: { candidate, asked, isLast }, deps, wire, losses }: Sending,
): AttemptResult | Promise<AttemptResult> {
  // It may have left while no exchange listened for it: before it was admitted, or between two.
  if (call.request.client.gone) return abortedFailure();
  if ('type' in request) return note(call, asked, { result: request, ms: 0 });
  const { clock } = deps;
  const { route } = candidate;
  if (clock.monotonic() >= call.request.startedAt + route.timeouts.total)
    return note(call, asked, { result: overdueFailure(), ms: 0 });
  const transport = deps.transportFor(route.provider, holderOf(call.request.principal));
  let startedAt = clock.monotonic();
  return new Promise((resolve) => {
    const exchange = createExchange({
      clock,
      call,
      candidate: asked,
      wire,
      onBegun() {
        startedAt = clock.monotonic();
        call.record.sentAt ??= startedAt;
        // A request about a stored thing shows neither how fast nor whether the model answers.
        if (call.peek.question) return undefined;
        return deps.health.begin(route, call.peek.stream ? 'stream' : 'whole');
      },
      maxAnswerBytes: deps.maxAnswerBytes,
      maxAnswerValues: deps.maxAnswerValues,
      active: deps.active,
      onSent() {
        request.body = undefined;
        if (isLast) letGo(call, wire);
      },
      onBug: (thrown) => deps.onBug(thrown, call.request.id),
      resolve(result) {
        if (result.type !== 'failed') call.record.losses = toldLosses(losses);
        resolve(note(call, asked, { result, ms: clock.monotonic() - startedAt }));
      },
    });
    exchange.attach(transport.send(request, exchange));
  });
}

/** The request with its media in it, or why this candidate is passed over; another may need none of it. */
async function readMedia(
  { media, peek }: Call,
  { provider }: Route,
): Promise<RequestPeek | AttemptFailure> {
  try {
    return (await media?.peekFor(provider)) ?? peek;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return unsupportedFailure(thrown);
    throw thrown;
  }
}

interface Preparation {
  peek: RequestPeek;
  wire: Wire;
  losses: string[];
  deps: CallDeps;
}

type Prepared = UpstreamRequest | AttemptFailure;

/** The request for one candidate, or why it is passed over without being asked. */
function prepare(
  call: Call,
  { route, model, protocol }: Candidate,
  { peek, wire, losses, deps }: Preparation,
): Prepared | Promise<Prepared> {
  const { request } = call;
  const { question } = call.peek;
  const isOwn = wire === request.protocol;
  const options = {
    model: route.upstreamModel,
    quirks: route.provider.quirks[protocol],
    askUsage: !route.provider.noStreamUsage,
    account: route.provider.id,
    vendor: vendorOf(route.provider),
    defaultMaxTokens: model.maxOutputTokens ?? deps.defaultMaxTokens,
    capabilities: route.capabilities,
    losses,
  };
  const build = (body: Buffer | SpooledBody): UpstreamRequest =>
    buildUpstreamRequest({
      account: route.provider,
      protocol,
      upstreamModel: route.upstreamModel,
      stream: call.peek.stream,
      repeatable: request.repeatable,
      body: question ? undefined : body,
      method: question?.method,
      below: question?.below,
      query: question?.query,
      contentType: call.peek.contentType,
      // Those of another protocol mean something else to this one.
      operation: isOwn ? call.peek.operation : undefined,
      clientHeaders: isOwn ? request.headers : undefined,
    });
  // Another candidate makes it again: it is not kept while a provider works.
  const release = (): void => {
    peek.json.release();
    call.peek.json.release();
  };
  if (wire.encodeInTurns && peek.body.length > LONG_BYTES)
    return wire.encodeInTurns(peek, options).then(build).catch(passOver).finally(release);
  try {
    return build(encode(wire, peek, options));
  } catch (thrown) {
    return passOver(thrown);
  } finally {
    release();
  }
}

function passOver(thrown: unknown): AttemptFailure {
  if (thrown instanceof GatewayError && thrown.code === 'unsupported_feature')
    return unsupportedFailure(thrown);
  throw thrown;
}

function encode(wire: Wire, peek: RequestPeek, options: EncodeOptions): Buffer | SpooledBody {
  return peek.form && wire.encodeForm
    ? wire.encodeForm(peek.form, options)
    : wire.encode(peek, options);
}

function note(
  { record, request }: Call,
  { route }: Candidate,
  { result, ms }: { result: AttemptResult; ms: number },
): AttemptResult {
  const failed = result.type === 'failed';
  record.attempts.push({
    provider: route.provider.name,
    model: route.upstreamModel,
    status: failed ? result.upstreamStatus : 200,
    outcome: failed ? result.reason : 'ok',
    ms: Math.round(ms),
    cause: failed ? result.cause : undefined,
    address: failed && result.cause ? hostOf(route.provider.baseUrl) : undefined,
    verdict: failed ? undefined : 'final',
    credential: route.provider.isLent ? 'client' : undefined,
    discarded:
      failed && result.usage ? priced(result.usage, request.free ? {} : route.pricing) : undefined,
  });
  return result;
}

function hostOf(baseUrl: string): string | undefined {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : undefined;
}

function priced(usage: Usage, pricing: Pricing): Discarded {
  return { usage, ...priceOf(usage, pricing) };
}

/**
 * Releases the bytes of a request that is not sent again, while its answer is still to come. They are kept
 * where something reads them later: an answer that is understood by its request, work that outlives the call,
 * media that was put into them, an answer of our own. Idempotent.
 */
function letGo(call: Call, wire: Wire): void {
  const { peek, media, request } = call;
  const { protocol, tracker } = request;
  if (wire.readsRequest || protocol.answerLocally || media || tracker || peek.form) return;
  // The objects themselves, because parts of a call that is under way hold on to them.
  peek.json.discard();
  const nothing: Partial<RequestPeek> = { body: NO_BYTES, members: [] };
  Object.assign(peek, nothing);
  request.body = NO_BYTES;
  request.onBodySpent?.();
}
