import type { Buffer } from 'node:buffer';
import type { Clock } from '../core/time/clock.ts';
import { ERRORS, toGatewayError } from '../core/errors.ts';
import type { GatewayError } from '../core/errors.ts';
import { allowsModel } from '../routing/model-patterns.ts';
import type { Model } from '../routing/catalog.ts';
import type { Plan } from '../routing/plan.ts';
import type { RequestPeek } from '../protocols/protocol.ts';
import { clientHeaders } from '../upstream/response-headers.ts';
import type { AttemptRecord, Downgrade, Ledger } from '../usage/ledger/ledger.ts';
import type { RequestOrigin } from '../usage/origin.ts';
import { decideAll, firstRefusal } from '../usage/rates/pending-claim.ts';
import type { Refusals } from '../usage/requests/refusals.ts';
import { boundOf, costOf } from '../usage/spend/pricing.ts';
import { admitCall } from './admission/admit-call.ts';
import { outputBoundOf, readable } from './admission/call-bound.ts';
import type { PlannedCall } from './admission/admit-call.ts';
import { describeAnswer } from './answer-headers.ts';
import { createContentRecorder } from './content-recorder.ts';
import type { ContentRecorder } from './content-recorder.ts';
import { UNSUPPORTED } from './failures.ts';
import type { MediaResolver } from './request-media.ts';
import { findModel, planFor } from './admission/plan-call.ts';
import type { Asked, PlanDeps, RefusablePlan } from './admission/plan-call.ts';
import { asPersistence } from './admission/persistence-error.ts';
import { readOrigin } from './request-origin.ts';
import type { OriginRules } from './request-origin.ts';
import { runCall } from './run-call.ts';
import type { CallDeps, CommittedResult } from './run-call.ts';
import { costSoFar, estimateUsage, settleCall, settleError, sparedAttempts } from './settlement.ts';
import type {
  Call,
  CallResult,
  InferenceRequest,
  ResponseHeaders,
  TrackedAnswer,
} from './types.ts';

export interface InferenceDeps extends CallDeps, PlanDeps {
  ledger: Ledger;
  /** Absent: requests that name media by reference go as they are. */
  media?: MediaResolver | undefined;
  /** Output tokens that a request without a limit of its own may cost (config: limits.output_tokens_bound). */
  outputBound: number;
  /** Default: neither labels nor tags count, and end users are kept as they come. */
  origins?: OriginRules | undefined;
  /** Records of requests that end before they have an entry in the ledger. */
  refusals: Pick<Refusals, 'note'>;
  /** Keep prompts and answers in the records (config: log.content). */
  keepContent: boolean;
}

/**
 * Takes one authenticated request from its bytes to an answer, or to the beginning of a stream
 * (design: One inference request, in order). Whatever happens, the record is settled exactly once.
 *
 * @throws GatewayError for everything that is answered with an error of the surface
 */
export async function runInference(
  request: InferenceRequest,
  deps: InferenceDeps,
): Promise<CallResult> {
  let asked: RequestPeek | undefined;
  let origin: RequestOrigin | undefined;
  let plan: RefusablePlan | undefined;
  let call: Call;
  const { claims = [] } = request;
  try {
    asked = request.protocol.peek(request.body, request.address);
    if (request.tracker?.isFor?.(asked) === false) request.tracker = undefined;
    // Another try would begin the same work once more.
    if (asked.background) request.repeatable = false;
    origin = readOrigin(request, asked.json, deps.origins);
    const model = findModel(request, asked.model);
    const found = deps.media?.resolve(asked, {
      protocol: request.protocol,
      organization: request.principal.organizationId,
    });
    const media = found && (await found);
    const peek = media?.peek ?? asked;
    const planned = planFor(request, { model, peek, origin }, deps);
    plan = planned instanceof Promise ? await planned : planned;
    if (plan.refusal) throw plan.refusal;
    call = begin(request, { peek, media, model, origin, plan }, deps);
    // A call that a rate turns away has not begun.
    if (claims.length > 0) await decideAll(claims);
  } catch (thrown) {
    const cause = toGatewayError(await firstRefusal(claims, thrown));
    noteRefusal(request, { asked, origin, plan, cause }, deps);
    throw cause;
  }
  try {
    if (call.entry.admitted) {
      const first = call;
      const instead = (to: Downgrade) => downgrade(first, to, deps);
      ({ call, plan } = await admitCall({ call, plan }, instead, deps.outputBound));
    }
    if (request.beforeSend) await request.beforeSend().catch(asPersistence);
    const committed = await runCall(call, plan, deps);
    const result = deliver(call, committed, deps);
    return result instanceof Promise ? await result : result;
  } catch (thrown) {
    const common = toGatewayError(thrown);
    const local = localAnswer(call, common);
    if (local) return await answerWith(call, local, deps.clock);
    const statuses = call.record.attempts.filter(wasAsked).map(({ status }) => status);
    const error = request.toClientError?.(common, statuses) ?? common;
    await settleError(call, error, deps.clock);
    throw afterRouting(call, error);
  }
}

/** Undefined where the key may not use the model or no route of it can answer. */
async function downgrade(
  { request, peek, media, origin, model: asked }: Call,
  { model: name, spared }: Downgrade,
  deps: InferenceDeps,
): Promise<PlannedCall | undefined> {
  const found = request.catalog.models.get(name);
  const isAllowed = allowsModel(request.principal.allowedModels, [name]);
  if (!found || !isAllowed || found.type !== asked.type) return undefined;
  const plan = await planFor(request, { model: found, peek, origin }, deps);
  if (plan.refusal) return undefined;
  const instead = { model: found.id, spared };
  const parts = { peek, media, model: found, origin, plan, asked, instead };
  return { call: begin(request, parts, deps), plan };
}

/** Names who was tried, and the command that shows why each route failed. */
function afterRouting(call: Call, error: GatewayError): GatewayError {
  const headers = { ...error.headers };
  describeAnswer(call, headers);
  const { message } = ERRORS.no_route_succeeded;
  if (error.message !== message) return error.with({ headers });
  return error.with({ headers, message: `${message}; gateway logs ${call.request.id} tells why` });
}

interface Refused {
  readonly asked: RequestPeek | undefined;
  readonly origin: RequestOrigin | undefined;
  readonly plan: Plan | undefined;
  readonly cause: GatewayError;
}

/** Leaves the record of a request that ended before it had an entry in the ledger. */
function noteRefusal(
  request: InferenceRequest,
  { asked, origin, plan, cause }: Refused,
  { refusals }: InferenceDeps,
): void {
  const { id, at, startedAt, surface, principal: payer } = request;
  const { model = '', stream = false } = asked ?? {};
  const told = request.toClientError?.(cause, []) ?? cause;
  const attempts = plan && sparedAttempts(plan.skipped);
  const head = { id, at, startedAt, surface, payer, model, stream, origin };
  refusals.note({ ...head, told, cause, attempts });
}

/** False for a candidate that was passed over for a missing capability. */
function wasAsked({ outcome }: AttemptRecord): boolean {
  return outcome !== UNSUPPORTED;
}

/** Answer of our own when no candidate gave one, for calls that have such an answer. */
function localAnswer({ request, peek }: Call, error: GatewayError): Buffer | undefined {
  return isProviders(error) ? request.protocol.answerLocally?.(peek) : undefined;
}

/** True unless it is the client's fault; a provider's lack of such an endpoint is not. */
function isProviders({ code, status }: GatewayError): boolean {
  if (code === 'upstream_rejected') return status === 404 || status === 405;
  return ['no_route_succeeded', 'unsupported_feature', 'invalid_upstream_response'].includes(code);
}

async function answerWith(call: Call, body: Buffer, clock: Clock): Promise<CallResult> {
  await settleCall(call, { status: 200, result: 'ok' }, clock);
  const headers: ResponseHeaders = { 'content-type': 'application/json' };
  describeAnswer(call, headers);
  return { type: 'body', status: 200, headers, body };
}

interface BeginParts extends Asked, Pick<Call, 'media'> {
  readonly plan: Plan;
  /** Model that was asked for, where `instead` of it another one answers. */
  readonly asked?: Model;
  readonly instead?: Downgrade;
}

function begin(
  request: InferenceRequest,
  { peek, media, model, origin, plan, asked = model, instead }: BeginParts,
  deps: InferenceDeps,
): Call {
  const { imagesBound: images = 0, secondsBound: seconds = 0, body, asks } = peek;
  const outputBound = outputBoundOf(peek, model, deps.outputBound);
  const usage = estimateUsage({ inputBytes: body.length, model }, 0);
  // The dearest route counts, since it is not known yet which one answers.
  let bound = 0;
  let cost = 0;
  let tokens = 0;
  for (const { model: answering, route } of request.free ? [] : plan.candidates) {
    const { pricing } = route;
    const input = readable(peek.inputBound, answering);
    const most = { inputBound: input, outputBound, images, seconds, asks };
    bound = Math.max(bound, boundOf({ ...most, pricing }));
    cost = Math.max(cost, costOf(usage, pricing));
    tokens = Math.max(tokens, input + outputBound);
  }
  const entry = deps.ledger.begin({
    id: request.id,
    at: request.at,
    principal: request.principal,
    surface: request.surface,
    model: asked.id,
    alias: peek.model === asked.id ? undefined : peek.model,
    stream: peek.stream,
    origin,
    claims: request.claims,
    bound,
    tokens: request.principal.tokenCaps && tokens,
    downgrade: instead,
    estimate: { input: usage.input, output: 0, cost },
  });
  return {
    request,
    peek,
    inputBytes: body.length,
    media,
    model,
    origin,
    entry,
    bound,
    content: deps.keepContent ? recordContent(body) : undefined,
    record: {
      attempts: [],
      losses: [],
      sentAt: undefined,
      firstContentAt: undefined,
      answeredBy: undefined,
      cost: undefined,
      skipped: plan.skipped,
    },
  };
}

function recordContent(body: Buffer): ContentRecorder {
  const recorder = createContentRecorder();
  recorder.asked(body);
  return recorder;
}

/** The record must be durable before the client sees anything of the answer (design: inference, step 7). */
function deliver(
  call: Call,
  committed: CommittedResult,
  deps: InferenceDeps,
): CallResult | Promise<CallResult> {
  const keeping = keepPins(call, found(committed), deps);
  if (keeping || call.request.tracker || !call.entry.isDurable)
    return deliverLater(call, committed, { keeping, deps });
  return toResult(call, committed, { kept: undefined, deps });
}

async function deliverLater(
  call: Call,
  committed: CommittedResult,
  { keeping, deps }: { keeping: Promise<void> | undefined; deps: InferenceDeps },
): Promise<CallResult> {
  const { tracker } = call.request;
  let kept: TrackedAnswer | undefined;
  try {
    await keeping;
    if (tracker && committed.type === 'answer')
      kept = await tracker.onAnswer(call, committed.answer);
    else if (tracker && committed.type === 'stream') await tracker.onStream(call, committed.reader);
    await call.entry.durable;
  } catch (error) {
    if (committed.type === 'stream') committed.abort();
    throw error;
  }
  return toResult(call, committed, { kept, deps });
}

function toResult(
  call: Call,
  committed: CommittedResult,
  { kept, deps }: { kept: TrackedAnswer | undefined; deps: InferenceDeps },
): CallResult | Promise<CallResult> {
  const headers = clientHeaders(committed.headers);
  if (committed.type === 'answer') {
    const { answer } = committed;
    const { body, consumption } = kept ?? { body: answer.body, consumption: answer };
    call.content?.add(body);
    const settled = settleCall(call, { status: 200, result: 'ok', consumption }, deps.clock);
    describeAnswer(call, headers);
    if (kept) Object.assign(headers, kept.headers);
    // It was read as JSON, whatever the provider calls it; clients go by the name.
    headers['content-type'] = 'application/json';
    const result: CallResult = { type: 'body', status: 200, headers, body };
    return settled ? settled.then(() => result) : result;
  }
  describeAnswer(call, headers);
  call.entry.follow(() => costSoFar(call, committed.reader));
  const { id } = call.request;
  settleAtEnd(call, committed, deps).catch((thrown: unknown) => deps.onBug(thrown, id));
  headers['content-type'] = call.peek.streamType ?? 'text/event-stream; charset=utf-8';
  headers['cache-control'] = 'no-cache';
  headers['x-accel-buffering'] = 'no';
  return { type: 'stream', status: 200, headers, body: committed.relay.body };
}

interface Findings {
  pins?: readonly string[];
  stored?: boolean;
  losses?: readonly string[];
}

function found(committed: CommittedResult): Findings {
  return committed.type === 'answer' ? committed.answer : committed.reader;
}

/** Notes what this answer leaves at its provider, before the client can refer to it. */
function keepPins(
  { record, request, peek }: Call,
  { pins, stored, losses }: Findings,
  { affinity }: InferenceDeps,
): Promise<void> | undefined {
  if (losses) record.losses = [...new Set([...record.losses, ...losses])];
  const account = record.answeredBy?.route.provider.id;
  if (!pins || pins.length === 0 || account === undefined) return undefined;
  const owner = stored ? { account, model: peek.model } : account;
  return affinity.keep(request.principal.organizationId, pins, owner).catch(asPersistence);
}

async function settleAtEnd(
  call: Call,
  stream: Extract<CommittedResult, { type: 'stream' }>,
  deps: InferenceDeps,
): Promise<void> {
  const { failure, clientGone, finish } = await stream.ended;
  // A limit is the one reason to let the client wait for its last bytes.
  if (!call.entry.settled) finish();
  const { id, tracker } = call.request;
  const report = (thrown: unknown): void => deps.onBug(thrown, id);
  try {
    await keepPins(call, stream.reader, deps)?.catch(report);
    const consumption = tracker ? await tracker.onStreamEnd(call, stream.reader) : stream.reader;
    await settleCall(
      call,
      {
        status: clientGone ? 499 : 200,
        result: clientGone ? 'aborted' : failure ? 'interrupted' : 'ok',
        errorCode: failure?.reason,
        consumption,
      },
      deps.clock,
    );
  } finally {
    finish();
  }
}
