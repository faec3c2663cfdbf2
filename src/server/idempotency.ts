import { Buffer } from 'node:buffer';
import type { Clock } from '../core/clock.ts';
import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { CallResult } from '../inference/types.ts';
import { readKey } from '../surfaces/carriers.ts';
import type { Carrier } from '../surfaces/carriers.ts';
import { errorBody, errorHeaders } from '../surfaces/envelopes.ts';
import type { Envelope } from '../surfaces/envelopes.ts';
import { admit } from '../surfaces/gate.ts';
import type { GateDeps } from '../surfaces/gate.ts';
import { onceClosed, watchClient } from '../surfaces/http-exchange.ts';
import type { Handler, HttpExchange, Reply } from '../surfaces/http-exchange.ts';
import { readBody } from '../surfaces/read-body.ts';
import type { Principal } from '../usage/principal.ts';
import type { CallPlace, Claim, IdempotencyRecords, OwnedCall } from './idempotency-records.ts';
import { createStandIn, fingerprintBody, replayRequest } from './replayed-request.ts';
import type { RouteSpec } from './routes.ts';

export interface IdempotencyDeps extends GateDeps {
  readonly clock: Clock;
  readonly records: IdempotencyRecords;
  /** Where keys of resources are looked for. */
  readonly carriers: readonly Carrier[];
  /** Bytes. */
  readonly maxBodyBytes: number;
}

const DAY_MS = 86_400_000;
/** A client that repeats by itself does so within this. */
const RETRIES_MS = 15 * 60_000;
/** How long a repeat waits for the call that is under way. */
const WAIT_MS = 30_000;
/** The store may be late to tell of another process. */
const LOOK_AGAIN_MS = 1_000;
const GIVEN = 'given:';
const NAME = /^[\x20-\x7e]{1,255}$/;
const GOOGLE: readonly Carrier[] = ['google-header', 'bearer', 'query-key'];

/**
 * Text that is asked for again may be made again, JSON-RPC names its own calls, what passes through is
 * the provider's to repeat, secrets are shown once, and the administrators' kinds have names of their own.
 */
const EXEMPT = [
  /^\/v1\/(chat|responses|messages|embeddings|models|api|webhooks\/secret)(\/|$)/,
  /^\/v1beta\/models\//,
  /\/(mcp|acp)$/,
  /^\/admin\/v1\/(?!(agents|credentials|deployments|services|skills)(\/|$))/,
];

/**
 * Lets calls name themselves with `Idempotency-Key` (requirement routing.idempotency-key): creates,
 * triggers, uploads, updates and media calls by POST. Within 24 hours a repeat by the same key of the
 * API to the same path gets the first answer again, marked `idempotent-replayed: true`; another body
 * answers 409 `idempotency_key_reused`. A repeat of a call that is under way waits for it up to 30 s,
 * then answers 409 `idempotency_in_progress`, which clients may send again. Kept are successes and
 * failures that may have been billed; any other failure did nothing and frees the name. Streams are
 * not kept. A named call goes on when its client leaves.
 *
 * Creates of the official clients, which number their attempts (`x-stainless-retry-count`) but do not
 * name their calls, are protected too: a second attempt gets what the first one made.
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
  const carriers = envelope === 'google' ? GOOGLE : deps.carriers;
  return async (exchange) => {
    const named = nameOf(exchange, envelope);
    if (named === undefined) return handler(exchange);
    const key = readKey(carriers, exchange.request.headers, exchange.search);
    const principal = key === undefined ? undefined : await deps.lookup(key);
    // Whoever is nobody is told so by the handler, in its own order.
    if (typeof principal !== 'object') return handler(exchange);
    const body = await readBody(exchange.request, deps.maxBodyBytes);
    const request = replayRequest(exchange.request, body);
    const fingerprint = fingerprintBody(request, body);
    const place = placeOf(principal, exchange, named(fingerprint));
    const claim = await claimWaiting({ place, fingerprint, exchange }, deps);
    if (claim.type === 'own') return make(handler, { claim, envelope, exchange, request });
    // Two creates that happen to be alike are two.
    if (place.isFirst) return handler({ ...exchange, request });
    // A repeat is a request like any other.
    const { leave } = await admit(key, null, deps);
    leave();
    return replay(claim);
  };
}

type Naming = (fingerprint: string) => Pick<CallPlace, 'name' | 'keepMs' | 'isFirst'>;

/** Undefined for a call that is made however often it is sent. */
function nameOf({ request }: HttpExchange, envelope: Envelope): Naming | undefined {
  const { 'idempotency-key': given, 'x-stainless-retry-count': attempt } = request.headers;
  if (given !== undefined) {
    const name = String(given);
    if (NAME.test(name)) return () => ({ name: `${GIVEN}${name}`, keepMs: DAY_MS, isFirst: false });
    const message = 'Idempotency-Key: expected 1 to 255 printable characters';
    throw new GatewayError('invalid_request', { message, param: 'Idempotency-Key' });
  }
  if (envelope !== 'resource' || !/^\d{1,3}$/.test(String(attempt))) return undefined;
  const isFirst = Number(attempt) === 0;
  return (fingerprint) => ({ name: `sent:${fingerprint}`, keepMs: RETRIES_MS, isFirst });
}

function placeOf(
  { organizationId, keyId }: Principal,
  { path }: HttpExchange,
  named: ReturnType<Naming>,
): CallPlace {
  return { organization: organizationId, key: keyId, path, ...named };
}

interface Claiming {
  readonly place: CallPlace;
  readonly fingerprint: string;
  readonly exchange: HttpExchange;
}

/** Waits for a call that is under way; for the client as long as it is there. */
async function claimWaiting(
  { place, fingerprint, exchange }: Claiming,
  { records, clock }: IdempotencyDeps,
): Promise<Claim> {
  const until = clock.monotonic() + WAIT_MS;
  const client = watchClient(exchange.response);
  for (;;) {
    const claim = await records.claim(place, fingerprint);
    if (claim.type !== 'under-way' || place.isFirst) return claim;
    if (client.gone || clock.monotonic() >= until) return claim;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(done, LOOK_AGAIN_MS);
      const stopWatching = records.watch(place, done);
      const forget = client.onGone(done);
      function done(): void {
        timer.cancel();
        stopWatching();
        forget();
        resolve();
      }
    });
  }
}

interface Making {
  readonly claim: OwnedCall;
  readonly envelope: Envelope;
  readonly exchange: HttpExchange;
  /** With the body that was read. */
  readonly request: HttpExchange['request'];
}

async function make(
  handler: Handler,
  { claim, envelope, exchange, request }: Making,
): Promise<Reply | CallResult> {
  const { response } = exchange;
  const isGiven = request.headers['idempotency-key'] !== undefined;
  const standIn = isGiven ? createStandIn(request) : undefined;
  try {
    const result = await handler({
      ...exchange,
      request,
      ...(standIn && { response: standIn.response }),
    });
    if ('type' in result && result.type === 'stream') {
      await claim.release();
      onceClosed(response, () => standIn?.close(response.writableFinished));
      return result;
    }
    standIn?.close(true);
    await keep(claim, result);
    return result;
  } catch (thrown) {
    standIn?.close(true);
    const error = toGatewayError(thrown);
    const body = errorBody(error, envelope, exchange.id);
    await keep(claim, { status: error.status, headers: errorHeaders(error), body });
    throw thrown;
  }
}

async function keep(claim: OwnedCall, { status, headers = {}, body }: Reply): Promise<void> {
  const mayHaveActed = status >= 500 && headers['x-should-retry'] === 'false';
  if (status >= 300 && !mayHaveActed) return claim.release();
  const isBytes = Buffer.isBuffer(body) || body === undefined;
  await claim.finish({
    status,
    headers: isBytes ? headers : { 'content-type': 'application/json', ...headers },
    body: isBytes ? body : Buffer.from(JSON.stringify(body)),
  });
}

function replay(claim: Exclude<Claim, OwnedCall>): Reply {
  if (claim.type === 'answered') {
    const { status, headers, body } = claim.answer;
    return {
      status,
      headers: { ...headers, 'idempotent-replayed': 'true' },
      ...(body && { body }),
    };
  }
  const [type, message, retry] = REFUSALS[claim.type];
  throw new GatewayError('conflict', { type, message, ...(retry ? RETRY : { retry: false }) });
}

const RETRY = { headers: { 'retry-after': '1' } };

const REFUSALS = {
  'other-body': [
    'idempotency_key_reused',
    'this Idempotency-Key was sent with another body; choose a new one for another call',
    false,
  ],
  'under-way': ['idempotency_in_progress', 'the call of this Idempotency-Key is under way', true],
  forgotten: [
    'idempotency_answer_not_kept',
    'the call of this Idempotency-Key was made, and its answer was too large to keep',
    false,
  ],
} as const;
