/**
 * Every error that a caller can see: stable code, HTTP status and default text. The texts of the
 * authentication and rate-limit rows are the contract's exact words (interface: Authentication, Errors).
 */
export const ERRORS = {
  missing_api_key: { status: 401, message: 'missing API key in Authorization header' },
  invalid_api_key: { status: 401, message: 'invalid API key' },
  api_key_revoked: { status: 401, message: 'API key has been revoked' },
  api_key_expired: { status: 401, message: 'API key has expired' },
  missing_client_credential: {
    status: 401,
    message: 'the provider takes a credential of the client, which sent none',
  },
  client_credential_refused: {
    status: 401,
    message: 'the credential for the provider was refused',
  },
  insufficient_scope: { status: 403, message: 'insufficient_scope' },
  organization_disabled: { status: 403, message: 'organization is disabled' },
  link_refused: { status: 403, message: 'the link is not valid, or no longer' },
  console_signed_out: {
    status: 401,
    message: 'not signed in to the console, or no longer: sign in again',
  },
  console_refused: { status: 403, message: 'the console takes calls of its own pages alone' },
  sso_refused: { status: 403, message: 'the sign-in was refused' },
  sso_unavailable: { status: 502, message: 'the identity provider does not answer as it should' },
  host_not_allowed: { status: 403, message: 'host not allowed' },
  key_rate_limited: { status: 429, message: 'API key rate limit exceeded' },
  global_rate_limited: { status: 429, message: 'global rate limit exceeded' },
  key_concurrency_exceeded: { status: 429, message: 'API key concurrency limit exceeded' },
  key_spending_limit: { status: 402, message: 'API key spending limit exceeded' },
  organization_spending_limit: { status: 402, message: 'organization spending limit reached' },
  unpriced: { status: 402, message: 'no route has a known price' },
  invalid_json: { status: 400, message: 'request body is not valid JSON' },
  invalid_request: { status: 400, message: 'invalid request' },
  unsupported_feature: { status: 400, message: 'no route of this model supports the request' },
  model_not_found: { status: 404, message: 'model not found' },
  model_unavailable: { status: 404, message: 'no route serves this model' },
  not_found: { status: 404, message: 'not found' },
  method_not_allowed: { status: 405, message: 'method not allowed' },
  websocket_refused: {
    status: 426,
    message: 'this path does not speak WebSocket; send the request over HTTP without an upgrade',
  },
  malformed_request: { status: 400, message: 'this is not a valid HTTP request' },
  request_timeout: { status: 408, message: 'the request was not received in time' },
  conflict: { status: 409, message: 'conflict' },
  outcome_unknown: { status: 409, message: 'nobody can tell what came of the call' },
  body_too_large: { status: 413, message: 'request body is too large' },
  coded_body: {
    status: 415,
    message: 'request bodies with a content coding are not taken; send the body without one',
  },
  url_too_long: { status: 414, message: 'request URL is too long' },
  headers_too_large: { status: 431, message: 'request headers are too large' },
  unprocessable: { status: 422, message: 'unprocessable value' },
  persistence_failed: { status: 500, message: 'the request could not be recorded' },
  no_credential: { status: 500, message: 'no provider credential is available' },
  internal_error: { status: 500, message: 'internal error' },
  invalid_upstream_response: { status: 502, message: 'the provider returned an invalid response' },
  upstream_rejected: { status: 400, message: 'the provider rejected the request' },
  upstream_interrupted: { status: 502, message: 'the provider connection was lost' },
  provider_rate_limited: { status: 429, message: 'the provider rate limit is reached' },
  api_unreachable: { status: 502, message: 'the API could not be reached' },
  api_failed: { status: 502, message: 'the API failed to answer the request' },
  media_failed: { status: 502, message: 'the media could not be fetched' },
  notification_failed: { status: 502, message: 'the chat webhook did not take the message' },
  no_route_succeeded: { status: 503, message: 'no provider route succeeded' },
  store_unavailable: { status: 503, message: 'the store is not available' },
  no_room_for_body: {
    status: 503,
    message: 'there is no room for the request body at the moment; try again in a moment',
  },
  shutting_down: { status: 503, message: 'the gateway is shutting down' },
  upstream_timeout: { status: 504, message: 'the provider did not answer in time' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Owner of a limit; `gateway` is the platform as a whole. */
export type LimitOwner = 'key' | 'organization' | 'budget' | 'conversation' | 'gateway';

/** Unit that a limit counts: nano-dollars, tokens, requests, or requests in flight at once. */
export type LimitUnit = 'money' | 'tokens' | 'requests' | 'in_flight';

/** Limit that turned a request away, with its state at that moment. Amounts are in its unit. */
export interface LimitReached {
  readonly owner: LimitOwner;
  /** Empty for the gateway. */
  readonly id: string;
  /** Null where the owner has no name of its own, or it is not known here. */
  readonly name: string | null;
  readonly unit: LimitUnit;
  /** `lifetime`, `month`, `week`, `day` or `minute`; null for requests in flight. */
  readonly per: string | null;
  readonly most: number;
  /** Amount that settled calls have spent. */
  readonly used: number;
  /** Amount that is reserved for calls under way. */
  readonly held: number;
  /** The most that the request could take; null where it was refused before that was known. */
  readonly needed: number | null;
  /** Milliseconds since epoch at which the limit begins again, or has room; null: never, or not known. */
  readonly freeAt: number | null;
  /** Absent where no tokens were bounded. */
  readonly bound?: TokenBound | undefined;
}

/** Tokens that a reservation is for. */
export interface TokenBound {
  readonly input: number;
  readonly output: number;
  /** Source of `output`: the request, the model's own limit, or the gateway's default. */
  readonly from: 'request' | 'model' | 'default';
}

export interface GatewayErrorOptions {
  message?: string;
  /** Overrides the row's status, for example when a provider's own client error is passed on. */
  status?: number;
  /** The field at fault, as a path (`messages[0].role`). */
  param?: string;
  /** A finer name for resource errors (`deployment_trigger_in_progress`). */
  type?: string;
  /** The provider's own code of its refusal (`context_length_exceeded`). */
  providerCode?: string;
  /** False: official clients do not repeat the call (`x-should-retry: false`). */
  retry?: boolean;
  headers?: Record<string, string>;
  /** Limit that the request did not fit; for its record, never for the body of an answer. */
  limit?: LimitReached;
  cause?: unknown;
}

/** The one error type that surfaces render; anything else thrown becomes `internal_error`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly param: string | undefined;
  readonly type: string | undefined;
  readonly providerCode: string | undefined;
  readonly retry: boolean | undefined;
  readonly headers: Record<string, string> | undefined;
  readonly limit: LimitReached | undefined;

  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? ERRORS[code].status;
    this.param = options.param;
    this.type = options.type;
    this.providerCode = options.providerCode;
    this.retry = options.retry;
    this.headers = options.headers;
    this.limit = options.limit;
  }

  /** The same error but for the members given. */
  with(changes: GatewayErrorOptions): GatewayError {
    const { code, message, status, param, type, providerCode, retry, headers, limit, cause } = this;
    const own = { message, status, param, type, providerCode, retry, headers, limit, cause };
    const given = Object.entries({ ...own, ...changes }).filter(([, value]) => value !== undefined);
    return new GatewayError(code, Object.fromEntries(given) as GatewayErrorOptions);
  }
}

/** Wraps what a bug threw; a {@link GatewayError} passes through. */
export function toGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError
    ? thrown
    : new GatewayError('internal_error', { cause: thrown });
}

/** Text of a thrown value for a line of text. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
