import { toGatewayError } from '../core/errors.ts';
import type { ErrorCode, GatewayError } from '../core/errors.ts';
import type { NewEvent } from '../sessions/session-event.ts';

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
}

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

/** What a thrown error of a model call means (requirement sessions.turn.errors). */
export function toModelFailure(thrown: unknown): ModelFailure {
  const error: GatewayError = toGatewayError(thrown);
  return {
    type: TYPES[error.code] ?? 'model_request_failed_error',
    message: error.message,
    isTransient: TRANSIENT.has(error.code),
  };
}

/** `exhausted`: the turn is over. */
export function toErrorEvent(
  error: { readonly type: string; readonly message: string; readonly mcp_server_name?: string },
  retry: 'retrying' | 'exhausted',
): NewEvent {
  return { type: 'session.error', error: { ...error, retry_status: { type: retry } } };
}
