import type { Rights } from '../../core/access.ts';
import { GatewayError, toGatewayError } from '../../core/errors.ts';
import type { CallResult } from '../../inference/types.ts';
import { errorBody, errorHeaders } from '../../surfaces/envelopes.ts';
import type { Envelope } from '../../protocols/family.ts';
import { CallNotMade, onceClosed } from '../../surfaces/http-exchange.ts';
import type { Handler, HttpExchange, Reply } from '../../surfaces/http-exchange.ts';
import { readBody } from '../../surfaces/read-body.ts';
import type { Principal } from '../../usage/principal.ts';
import type { CallAnswer, NamedCall } from '../../store/named-call.ts';
import type { RouteSpec } from '../http/routes.ts';
import { claimAgain, claimFirst, claimNamed } from './claim-call.ts';
import type { ClaimDeps } from './claim-call.ts';
import { takenOver } from './owned-call.ts';
import type { OwnedCall } from './owned-call.ts';
import type { Claim } from './records.ts';
import { createStandIn, fillReplayed, fingerprintBody, replayRequest } from './replayed-request.ts';
import type { StandIn } from './replayed-request.ts';
import type { CallPlace, CallTrace } from './row.ts';

export interface IdempotencyDeps extends ClaimDeps {
  /** Bytes. */
  readonly maxBodyBytes: number;
}

const DAY_MS = 86_400_000;
/** A client that repeats by itself does so within this. */
const RETRIES_MS = 15 * 60_000;
const GIVEN = 'given:';
const NAME = /^[\x20-\x7e]{1,255}$/;
/** Settles a state, and does so again without harm. */
const SETS_STATE = /\/(archive|pause|rotate|unpause)$/;

/**
 * Paths without named calls: text that is asked for again may be made again, JSON-RPC names its own calls,
 * what passes through is the provider's to repeat, secrets are shown once, who signs in has no key yet, and
 * the administrators' kinds have names of their own.
 */
const EXEMPT = [
  /^\/v1\/(chat|responses|messages|embeddings|models|api|webhooks\/secret|account\/sso)(\/|$)/,
  /^\/v1beta\/models\//,
  /\/(mcp|acp)$/,
  /^\/admin\/v1\/(?!(agents|credentials|deployments|services|skills)(\/|$))/,
];

/**
 * Makes calls repeatable that name themselves with `Idempotency-Key` (requirement
 * routing.idempotency-key): creates, triggers, uploads, updates and media calls by POST. Within 24
 * hours a repeat by the same key of the API to the same path gets the first answer again, marked
 * `idempotent-replayed: true`; another body answers 409 `idempotency_key_reused`. A repeat of a
 * call under way waits up to 30 s, then answers 409 `idempotency_in_progress`, which clients may
 * send again. Kept are successes and failures that may have been billed; any other failure did
 * nothing and frees the name. Streams are not kept. A named call continues when its client leaves.
 *
 * A call begins, and its body is read, once the gate has admitted its key; a repeat is a request
 * like any other. Handlers commit the name with their effect ({@link NamedCall}): after a kill a
 * repeat finds both or makes the call. One that may have acted outside the store answers 409
 * `outcome_unknown` from then on.
 *
 * Creates of the official clients, which number their attempts (`x-stainless-retry-count`) but do
 * not name their calls, are protected where the gateway sees that an answer was lost: a second
 * attempt gets the outcome of a first one whose client did not get all of the answer. A complete
 * answer goes to no other client: a duplicate does less harm than two clients with one Session.
 */
export function withIdempotency(
  routes: readonly RouteSpec[],
  deps: IdempotencyDeps,
): readonly RouteSpec[] {
  return routes.map((route) => {
    const { POST } = route.methods;
    if (!POST || EXEMPT.some((pattern) => pattern.test(route.path))) return route;
    return { ...route, methods: { ...route.methods, POST: protect(POST, route.envelope, deps) } };
  });
}

function protect(handler: Handler, envelope: Envelope, deps: IdempotencyDeps): Handler {
  return async (exchange) => {
    if (!isNamed(exchange, envelope)) return handler(exchange);
    const call = toCall(exchange, deps);
    /** True for an answer after which the client does not come again. */
    let isLast = false;
    try {
      const result = await make(handler, call, envelope);
      isLast = isStream(result) || isToKeep(result);
      return result;
    } catch (thrown) {
      isLast = toGatewayError(thrown).retry === false;
      throw thrown;
    } finally {
      letGo(call, isLast, deps);
    }
  };
}

/** Settles one of the calls alike once its client has the outcome. */
function letGo({ exchange, place }: Call, isLast: boolean, { records }: IdempotencyDeps): void {
  if (place?.call === undefined) return;
  const { id: request, response } = exchange;
  const settle = (): void =>
    void records.settle({ place, request }, isLast && response.writableFinished);
  onceClosed(response, settle);
}

/** A named call, and how far it has come. */
interface Call {
  /** Exchange with the client, who waits for it. */
  readonly exchange: HttpExchange;
  /** Exchange as the handler gets it. */
  readonly inner: HttpExchange & { named?: NamedCall | undefined };
  /** Absent: the handler gets notice of a client that leaves. */
  readonly standIn: StandIn | undefined;
  /** Absent before it has begun. */
  place?: CallPlace;
  /** Absent for a call that is not made. */
  claim?: OwnedCall;
}

function toCall(exchange: HttpExchange, deps: IdempotencyDeps): Call {
  const request = replayRequest(exchange.request);
  const isGiven = request.headers['idempotency-key'] !== undefined;
  const standIn = isGiven ? createStandIn(request) : undefined;
  const inner: Call['inner'] = {
    ...exchange,
    request,
    ...(standIn && { response: standIn.response }),
    async begin(principal) {
      const claim = await claimFor(principal, call, deps).catch((thrown: unknown) => {
        throw new CallNotMade(() => {
          throw thrown;
        });
      });
      if (claim.type !== 'own') throw new CallNotMade(() => replay(claim));
      call.claim = claim;
      inner.named = claim;
    },
  };
  const call: Call = { exchange, inner, standIn };
  return call;
}

/** Reads the body, which is read once more and nowhere else, and claims the call. */
async function claimFor(principal: Principal, call: Call, deps: IdempotencyDeps): Promise<Claim> {
  const { exchange, inner } = call;
  const named = nameOf(exchange);
  const body = await readBody(exchange, { limit: deps.maxBodyBytes, holder: principal.keyId });
  fillReplayed(inner.request, body);
  const fingerprint = fingerprintBody(inner.request, body);
  const { claim: claimCall, ...name } = named(fingerprint);
  const place = placeOf(principal, exchange, name);
  const rights = rightsOf(principal);
  const claimed = await claimCall({ place, fingerprint, rights, exchange }, deps);
  call.place = claimed.place;
  return claimed.claim;
}

type Naming = (
  fingerprint: string,
) => Pick<CallPlace, 'name' | 'keepMs'> & { readonly claim: typeof claimNamed };

/** False for a call that is made however often it is sent. */
function isNamed({ request, path }: HttpExchange, envelope: Envelope): boolean {
  const { 'idempotency-key': given, 'x-stainless-retry-count': attempt } = request.headers;
  if (given !== undefined) return true;
  if (envelope !== 'resource' || SETS_STATE.test(path)) return false;
  return /^\d{1,3}$/.test(String(attempt));
}

function nameOf({ request }: HttpExchange): Naming {
  const { 'idempotency-key': given, 'x-stainless-retry-count': attempt } = request.headers;
  if (given !== undefined) {
    const name = String(given);
    if (NAME.test(name))
      return () => ({ name: `${GIVEN}${name}`, keepMs: DAY_MS, claim: claimNamed });
    const message = 'Idempotency-Key: expected 1 to 255 printable characters';
    throw new GatewayError('invalid_request', { message, param: 'Idempotency-Key' });
  }
  const claim = Number(attempt) === 0 ? claimFirst : claimAgain;
  return (fingerprint) => ({ name: `sent:${fingerprint}`, keepMs: RETRIES_MS, claim });
}

function placeOf(
  { organizationId, keyId }: Principal,
  { path }: HttpExchange,
  name: Pick<CallPlace, 'name' | 'keepMs'>,
): CallPlace {
  return { organization: organizationId, key: keyId, path, ...name };
}

function rightsOf({ scopes, role = null }: Principal): Rights {
  return { scopes: scopes && [...scopes].sort(), role };
}

async function make(handler: Handler, call: Call, envelope: Envelope): Promise<Reply | CallResult> {
  const { exchange, inner, standIn } = call;
  const { response } = exchange;
  try {
    const result = await handler(inner);
    const { claim } = call;
    if (isStream(result)) {
      await claim?.release();
      onceClosed(response, () => standIn?.close(response.writableFinished));
      return result;
    }
    standIn?.close(true);
    if (!claim) return result;
    if (isToKeep(result)) return toReply(await claim.finish(result));
    await claim.release();
    return result;
  } catch (thrown) {
    standIn?.close(true);
    if (thrown instanceof CallNotMade) return thrown.answer();
    const { claim } = call;
    if (!claim) throw thrown;
    throw await endFailed(claim, thrown, { envelope, request: exchange.id });
  }
}

function isStream(result: Reply | CallResult): result is CallResult & { type: 'stream' } {
  return 'type' in result && result.type === 'stream';
}

function toReply({ status, headers = {}, body }: CallAnswer): Reply {
  return { status, headers: { ...headers }, ...(body && { body }) };
}

/** Successes, and failures that may have been billed. */
function isToKeep({ status, headers = {} }: Reply): boolean {
  return status < 300 || (status >= 500 && headers['x-should-retry'] === 'false');
}

/** Ends the call according to its failure; gives the error for the client. */
async function endFailed(
  claim: OwnedCall,
  thrown: unknown,
  { envelope, request }: { envelope: Envelope; request: string },
): Promise<unknown> {
  const error = toGatewayError(thrown);
  const { code, status, type } = error;
  if (code === 'outcome_unknown') {
    await claim.giveUp();
    return unknownOutcome(claim.trace);
  }
  const answer = {
    status,
    headers: errorHeaders(error),
    body: errorBody(error, envelope, request),
  };
  if (isToKeep(answer)) {
    await claim.finish(answer);
    return thrown;
  }
  const isOwnFault = code === 'persistence_failed' || code === 'internal_error';
  if (isOwnFault && claim.trace && claim.trace.made === undefined) {
    await claim.giveUp();
    return thrown;
  }
  const isHeld = await claim.release();
  // Its effect may be there: the repeat gets the answer that was kept with it.
  return isHeld || type === 'idempotency_in_progress' ? thrown : takenOver();
}

function replay(claim: Exclude<Claim, OwnedCall>): Reply {
  if (claim.type === 'answered') {
    const { headers } = claim.answer;
    return toReply({ ...claim.answer, headers: { ...headers, 'idempotent-replayed': 'true' } });
  }
  if (claim.type === 'unknown') throw unknownOutcome(claim.trace);
  if (claim.type === 'under-way') throw takenOver();
  if (claim.type === 'fewer-rights') throw new GatewayError('insufficient_scope');
  const [type, message] = REFUSALS[claim.type];
  throw new GatewayError('conflict', { type, message, retry: false });
}

const REFUSALS = {
  'other-body': [
    'idempotency_key_reused',
    'this Idempotency-Key was sent with another body; choose a new one for another call',
  ],
  forgotten: [
    'idempotency_answer_not_kept',
    'the call of this Idempotency-Key was made, and its answer was too large to keep',
  ],
} as const;

function unknownOutcome(trace: CallTrace | undefined): GatewayError {
  const look = trace ? `look at \`${trace.lookUp}\`, and ` : '';
  const message =
    'the gateway stopped while it made the call of this Idempotency-Key, which may have been carried ' +
    `out and is not made again; ${look}choose a new Idempotency-Key to make it once more`;
  return new GatewayError('outcome_unknown', { message, type: 'outcome_unknown', retry: false });
}
