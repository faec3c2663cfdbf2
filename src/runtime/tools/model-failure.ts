import { toGatewayError } from '../../core/errors.ts';
import type { ErrorCode, GatewayError } from '../../core/errors.ts';
import type { NewEvent } from '../../sessions/log/session-event.ts';

/** A failed model request as a `session.error` shows it. */
export interface ModelFailure {
  readonly type:
    | 'billing_error'
    | 'model_overloaded_error'
    | 'model_rate_limited_error'
    | 'model_request_failed_error';
  readonly message: string;
  /** The same request may succeed a little later. */
  readonly isTransient: boolean;
  /** The conversation is longer than the model can read. */
  readonly isTooLong: boolean;
  /** Something in the conversation is not to be had with this model, now or later. */
  readonly isRefused: boolean;
}

/** Type of the error for a model that stopped for that reason. */
export const CONTEXT_EXCEEDED = 'context_exceeded';
/**
 * Matches the words, and codes, in which providers say that a conversation is too long, which have no status of
 * their own; none in which they say that the answer asked for is.
 */
const TOO_LONG =
  /context.{0,3}(?:length|window|size|limit)|maximum context|maximum prompt length|longer than the maximum model length|(?:prompt|input) is too long|reduce the length of the (?:messages|prompt|input)|too many (?:input )?tokens|input token count/i;
/** Status for a request that has too many bytes. */
const TOO_LARGE = 413;

const TYPES: Readonly<Partial<Record<ErrorCode, ModelFailure['type']>>> = {
  key_spending_limit: 'billing_error',
  organization_spending_limit: 'billing_error',
  key_rate_limited: 'model_rate_limited_error',
  global_rate_limited: 'model_rate_limited_error',
  key_concurrency_exceeded: 'model_rate_limited_error',
  provider_rate_limited: 'model_rate_limited_error',
  no_route_succeeded: 'model_overloaded_error',
};

const TRANSIENT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'key_rate_limited',
  'global_rate_limited',
  'key_concurrency_exceeded',
  'provider_rate_limited',
  'no_route_succeeded',
  'invalid_upstream_response',
  'upstream_interrupted',
  'upstream_timeout',
  'persistence_failed',
  'store_unavailable',
  'shutting_down',
]);

/** Errors, and their statuses, that the same request would meet again. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'upstream_rejected',
  'unsupported_feature',
]);
const REFUSED: ReadonlySet<number> = new Set([400, 422]);

/** Classifies a thrown error of a model call (requirement sessions.turn.errors). */
export function toModelFailure(thrown: unknown): ModelFailure {
  const error: GatewayError = toGatewayError(thrown);
  const { code, status, message, providerCode = '' } = error;
  const isTooLong =
    error.type === CONTEXT_EXCEEDED ||
    status === TOO_LARGE ||
    (status === 400 && (TOO_LONG.test(message) || TOO_LONG.test(providerCode)));
  return {
    type: TYPES[code] ?? 'model_request_failed_error',
    message,
    isTransient: TRANSIENT.has(code),
    isTooLong,
    isRefused: !isTooLong && REFUSALS.has(code) && REFUSED.has(status),
  };
}

/** `exhausted`: the turn is over. */
export function toErrorEvent(
  error: { readonly type: string; readonly message: string; readonly mcp_server_name?: string },
  retry: 'retrying' | 'exhausted',
): NewEvent {
  return { type: 'session.error', error: { ...error, retry_status: { type: retry } } };
}
