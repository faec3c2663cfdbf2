import { toGatewayError } from '../../core/errors.ts';
import type { ErrorCode, GatewayError } from '../../core/errors.ts';
import type { NewEvent } from '../../sessions/log/session-event.ts';

/** A failed model request as a `session.error` tells it. */
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
}

/** Type of the error for a model that stopped for that reason. */
export const CONTEXT_EXCEEDED = 'context_exceeded';
/**
 * Matches the words in which providers say that a conversation is too long; none has a status for
 * it.
 */
const TOO_LONG =
  /context.{0,3}(?:length|window)|maximum context|prompt is too long|too many (?:input )?tokens|input token count/i;

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

/** Classifies a thrown error of a model call (requirement sessions.turn.errors). */
export function toModelFailure(thrown: unknown): ModelFailure {
  const error: GatewayError = toGatewayError(thrown);
  const { code, status, message } = error;
  return {
    type: TYPES[code] ?? 'model_request_failed_error',
    message,
    isTransient: TRANSIENT.has(code),
    isTooLong: error.type === CONTEXT_EXCEEDED || (status === 400 && TOO_LONG.test(message)),
  };
}

/** `exhausted`: the turn is over. */
export function toErrorEvent(
  error: { readonly type: string; readonly message: string; readonly mcp_server_name?: string },
  retry: 'retrying' | 'exhausted',
): NewEvent {
  return { type: 'session.error', error: { ...error, retry_status: { type: retry } } };
}
