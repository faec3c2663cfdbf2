import type { Buffer } from 'node:buffer';
import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { SpooledBody } from '../core/memory/spooled-body.ts';
import type { InferenceDeps } from '../inference/run-inference.ts';
import { readOrigin } from '../inference/request-origin.ts';
import type { ClientConnection, PipeableBody, ResponseHeaders } from '../inference/types.ts';
import type { ApiMethod } from '../routing/api.ts';
import type { Api, Catalog } from '../routing/catalog.ts';
import { matchesModel } from '../routing/model-patterns.ts';
import type { Transport, UpstreamRequest } from '../upstream/transport.ts';
import { NO_USAGE } from '../core/usage.ts';
import type { LedgerEntry } from '../usage/ledger/ledger.ts';
import { hasSpendingLimit } from '../usage/ledger/ledger-call.ts';
import { costOf } from '../usage/spend/pricing.ts';
import type { RequestOrigin } from '../usage/origin.ts';
import { holderOf } from '../usage/principal.ts';
import type { Principal } from '../usage/principal.ts';
import { isPriced } from '../usage/usage.ts';
import { ApiExchange } from './api-exchange.ts';
import type { ApiAnswer, ApiFailure } from './api-exchange.ts';
import { toApiHeaders } from './request-headers.ts';
import { hasNoBody, toClientHead } from './response-head.ts';
import { ApiCallRecord, apiBoundOf, toSpooled } from './settle-api-call.ts';
import type { ApiConsumption } from './settle-api-call.ts';
import { signatureHeaders } from './sign-request.ts';
import { toTarget } from './target.ts';
import type { TargetAddress } from './target.ts';

export interface ApiDeps {
  inference: Pick<
    InferenceDeps,
    | 'clock'
    | 'ledger'
    | 'active'
    | 'keepContent'
    | 'onBug'
    | 'origins'
    | 'allowsUnpriced'
    | 'refusals'
  >;
  /** HTTP to an API; `holder` gets a share of its connections. */
  transportToApi(api: Api, holder: string): Transport;
  catalog(): Catalog;
}

/** A call that may be made. */
export interface PlannedApiCall {
  readonly api: Api;
  readonly method: ApiMethod;
  readonly url: URL;
}

export interface ApiCallRequest extends PlannedApiCall {
  /** `req_…` */
  readonly id: string;
  /** Milliseconds since epoch, and Clock.monotonic(), at arrival. */
  readonly at: number;
  readonly startedAt: number;
  /** Surface as records name it. */
  readonly surface: string;
  readonly principal: Principal;
  /** Circumstances that the headers do not show. Default: none. */
  readonly origin?: RequestOrigin | undefined;
  /** The client's own, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Body, read once, unless the first connection could not be made: then not at all. */
  readonly body: Buffer | SpooledBody | undefined;
  readonly client: ClientConnection;
  /** False: the answer's body is decoded. */
  readonly raw: boolean;
  /** The answer broke off after its head. */
  onBroken(failure: ApiFailure): void;
}

export interface ApiCallResult {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Undefined where the status allows none. */
  readonly body: PipeableBody | undefined;
  /** Resolves when the answer is over, with its end and its cost. */
  readonly settled: Promise<ApiConsumption & { failure: ApiFailure | undefined }>;
}

/**
 * Looks a call up: whether the caller may use the API, and whether the API offers it.
 *
 * @throws GatewayError `not_found`, `method_not_allowed`, `invalid_request`
 */
export function planApiCall(
  { vendor, method, address }: { vendor: string; method: ApiMethod; address: TargetAddress },
  { allowedModels }: Principal,
  catalog: Catalog,
): PlannedApiCall {
  const api = catalog.apis.get(vendor);
  if (!api || (allowedModels !== null && !matchesModel(allowedModels, vendor))) {
    const message = `no API ${vendor.slice(0, 100)}; GET /v1/models?type=api lists what there is`;
    throw new GatewayError('not_found', { message });
  }
  const url = toTarget(api, address);
  if (!api.methods.includes(method)) {
    throw new GatewayError('method_not_allowed', { headers: { allow: api.methods.join(', ') } });
  }
  return { api, method, url };
}

/**
 * Makes a call to an API: reserved, recorded and charged exactly once, whatever becomes of it. It is
 * made again once where nothing of it could be sent. Resolves with the head of the answer, once the
 * record of the call is durable.
 *
 * @throws GatewayError `unpriced` for a call under a spending limit, which leaves a record as well;
 *   `api_unreachable`, `api_failed`, `upstream_timeout`, `upstream_interrupted`, `no_route_succeeded` for
 *   a credential that the API refuses, `shutting_down`, and what the ledger
 *   throws
 */
export async function runApiCall(request: ApiCallRequest, deps: ApiDeps): Promise<ApiCallResult> {
  const { id, at, startedAt, principal, surface, api, client } = request;
  const origin = readOrigin(request, undefined, deps.inference.origins);
  const { clock, ledger, keepContent, allowsUnpriced } = deps.inference;
  const isLimited = hasSpendingLimit(principal, { model: api.name, origin });
  if (!allowsUnpriced && isLimited && !isPriced(api.pricing))
    throw noteRefusal({ ...request, model: api.name, origin }, unpriced(api), deps);
  const endpoint = `${request.method} ${request.url.pathname.slice(api.basePath.length)}`;
  const record = new ApiCallRecord(api, { clock, startedAt, endpoint, keepContent });
  const entry = ledger.begin({
    id,
    at,
    principal,
    surface,
    model: api.name,
    stream: false,
    origin,
    bound: apiBoundOf(api),
    estimate: { input: 0, output: 0, cost: costOf(NO_USAGE, api.pricing) },
  });
  try {
    if (entry.admitted) await entry.admitted;
    const answer = await send(request, record, deps);
    await entry.durable.catch((error: unknown) => {
      answer.abort();
      throw error;
    });
    const isBodiless = hasNoBody(answer.status);
    const settled = settleAtEnd(answer, record, entry);
    if (isBodiless) await settled;
    return {
      status: answer.status,
      headers: toClientHead(answer.status, answer.headers, api),
      body: isBodiless ? undefined : answer.body,
      settled,
    };
  } catch (thrown) {
    const error = toGatewayError(thrown);
    record.settleError(entry, error, client.gone);
    await entry.settled;
    throw error;
  }
}

/** Request as far as it is known where it is refused. */
type Refused = Pick<
  ApiCallRequest,
  'id' | 'at' | 'startedAt' | 'surface' | 'principal' | 'origin'
> & {
  /** Name that was asked for. */
  readonly model: string;
};

/** Leaves the record of a call that ended before it had an entry in the ledger; gives its error. */
export function noteRefusal(
  { principal: payer, id, at, startedAt, surface, origin, model }: Refused,
  thrown: unknown,
  { inference }: Pick<ApiDeps, 'inference'>,
): GatewayError {
  const cause = toGatewayError(thrown);
  const head = { id, at, startedAt, surface, origin, model, payer, stream: false };
  inference.refusals.note({ ...head, told: cause, cause });
  return cause;
}

/** Nothing that the client repeats changes it. */
function unpriced({ name }: Api): GatewayError {
  const message = `the API ${name} has no known price; set pricing, or server.limits.unpriced: allow`;
  return new GatewayError('unpriced', { message, retry: false });
}

async function settleAtEnd(
  { ended, status }: ApiAnswer,
  record: ApiCallRecord,
  entry: LedgerEntry,
): ReturnType<() => ApiCallResult['settled']> {
  const { failure, finish } = await ended;
  try {
    const consumption = record.settleAnswer(entry, { status, failure });
    if (entry.settled) await entry.settled;
    return { ...consumption, failure };
  } finally {
    finish();
  }
}

async function send(
  request: ApiCallRequest,
  record: ApiCallRecord,
  deps: ApiDeps,
): Promise<ApiAnswer> {
  const sent = await toUpstreamRequest(request, record, deps);
  const first = await attempt(sent, { request, record, deps });
  const isLost = 'reason' in first && first.isUnsent && !request.client.gone;
  const result = isLost ? await attempt(sent, { request, record, deps }) : first;
  if ('reason' in result) throw result.error;
  return result;
}

async function toUpstreamRequest(
  { api, method, url, headers, body, raw }: ApiCallRequest,
  record: ApiCallRecord,
  { inference }: ApiDeps,
): Promise<UpstreamRequest> {
  const spooled = toSpooled(body);
  const sent = toApiHeaders(headers, api);
  if (api.auth.type === 'signature' && api.secret !== undefined) {
    const key = { id: api.auth.key_id, secret: api.secret };
    const created = Math.floor(inference.clock.now() / 1000);
    sent.push(...(await signatureHeaders({ method, url, body: spooled }, key, created)));
  }
  // An answer that is read for its price must be readable.
  return {
    method,
    url,
    headers: sent,
    body: record.watch(spooled),
    raw: raw && api.usage.length === 0,
  };
}

async function attempt(
  sent: UpstreamRequest,
  { request, record, deps }: { request: ApiCallRequest; record: ApiCallRecord; deps: ApiDeps },
): Promise<ApiAnswer | ApiFailure> {
  const { api, principal, client, method, startedAt, onBroken } = request;
  const { clock, active } = deps.inference;
  const begun = clock.monotonic();
  record.sent();
  const result = await new Promise<ApiAnswer | ApiFailure>((resolve) => {
    const exchange = new ApiExchange({
      clock,
      client,
      timeouts: api.timeouts,
      deadline: startedAt + api.timeouts.total,
      isSafe: method === 'GET',
      active,
      onHead: (status, headers) => record.answered(status, typeOf(headers)),
      onData: (chunk) => record.passed(chunk),
      onBroken,
      resolve,
    });
    exchange.attach(deps.transportToApi(api, holderOf(principal)).send(sent, exchange));
    // It may have left while nothing listened for it.
    if (client.gone) exchange.giveUp();
  });
  const { status } = result;
  const outcome =
    'reason' in result ? result.reason : (status ?? 0) < 400 ? 'ok' : `status_${status}`;
  record.attempted(status, outcome, clock.monotonic() - begun);
  return result;
}

function typeOf(headers: ApiAnswer['headers']): string | undefined {
  const type = headers['content-type'];
  return Array.isArray(type) ? type[0] : type;
}
