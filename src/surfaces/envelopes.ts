import type { ErrorCode, GatewayError } from '../core/errors.ts';
import { googleStatus } from '../protocols/google-status.ts';
import type { Envelope, EnvelopeName } from '../protocols/family.ts';

type Renderer = (error: GatewayError, requestId: string) => object;

/** Failures of the shared checks are flat on every Bearer-only endpoint (requirement errors.flat.which). */
const MIDDLEWARE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'missing_api_key',
  'invalid_api_key',
  'api_key_revoked',
  'api_key_expired',
  'insufficient_scope',
  'organization_disabled',
  'host_not_allowed',
  'url_too_long',
  'key_rate_limited',
  'global_rate_limited',
  'key_concurrency_exceeded',
  'key_spending_limit',
  'organization_spending_limit',
]);

const RENDERERS: Record<EnvelopeName, Renderer> = {
  flat: (error) => ({ error: error.message }),
  resource: (error, requestId) => ({
    type: 'error',
    error: {
      type: error.type ?? resourceType(error.status),
      message: error.message,
      ...param(error),
    },
    request_id: requestId,
  }),
  chat: (error) => ({
    error: {
      message: error.message,
      type: chatType(error.status),
      param: error.param ?? null,
      code: error.providerCode ?? error.code,
    },
  }),
  messages: (error, requestId) => ({
    type: 'error',
    error: { type: messagesType(error.status), message: error.message },
    request_id: requestId,
  }),
  google: (error) => ({
    error: { code: error.status, message: error.message, status: googleStatus(error.status) },
  }),
};

/** The body of `error` in the family's shape; `envelope` is the family's own one. */
export function errorBody(error: GatewayError, envelope: Envelope, requestId: string): object {
  if (typeof envelope === 'object') return envelope.render(error, requestId);
  const own = envelope === 'messages' || envelope === 'google';
  return RENDERERS[!own && MIDDLEWARE.has(error.code) ? 'flat' : envelope](error, requestId);
}

/**
 * Headers that every error answer carries in addition to the request id. Claude Code repeats a 401 for three
 * minutes where nothing says that it need not.
 */
export function errorHeaders(error: GatewayError): Record<string, string> {
  const retry = error.status === 401 ? false : error.retry;
  return {
    ...error.headers,
    ...(retry === undefined ? {} : { 'x-should-retry': String(retry) }),
  };
}

function param(error: GatewayError): { param?: string } {
  return error.param === undefined ? {} : { param: error.param };
}

function resourceType(status: number): string {
  const byStatus: Record<number, string> = {
    400: 'invalid_request',
    404: 'not_found',
    405: 'method_not_allowed',
    408: 'timeout',
    409: 'conflict',
    413: 'request_too_large',
    422: 'unprocessable',
    502: 'upstream_error',
    503: 'unavailable',
  };
  return byStatus[status] ?? (status < 500 ? 'invalid_request' : 'internal_error');
}

function chatType(status: number): string {
  const byStatus: Record<number, string> = {
    401: 'authentication_error',
    402: 'billing_error',
    403: 'permission_error',
    404: 'not_found_error',
    409: 'conflict_error',
    429: 'rate_limit_error',
    504: 'timeout_error',
  };
  return byStatus[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

function messagesType(status: number): string {
  if (status === 413) return 'request_too_large';
  return status === 529 ? 'overloaded_error' : chatType(status);
}
