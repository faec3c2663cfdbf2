import { GatewayError } from '../core/errors.ts';
import type { ResponseHeaders } from '../inference/types.ts';
import type { Api } from '../routing/catalog.ts';
import { clientHeaders } from '../upstream/response-headers.ts';
import type { UpstreamHeaders } from '../upstream/transport.ts';

/**
 * Headers that clients need to read the body, in pieces or out of a cache, in addition to those that all
 * answers carry.
 */
const PASSED = [
  'accept-ranges',
  'content-encoding',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
];

const WRITABLE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Statuses about the operator's account at the API: unchanged, they would look like ours. */
const DENIALS: ReadonlySet<number> = new Set([401, 402, 403, 407]);

/** Statuses whose answers have no body (RFC 9110). */
export function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/**
 * The part of an answer's head that reaches the client (requirement routing.upstream-headers.allow-list), with
 * the further headers that the operator lets through.
 */
export function toClientHead(status: number, headers: UpstreamHeaders, api: Api): ResponseHeaders {
  const head: ResponseHeaders = clientHeaders(headers);
  for (const name of [...PASSED, ...api.responseHeaders]) {
    const value = headers[name];
    const line = Array.isArray(value) ? value.join(', ') : value;
    if (line !== undefined && WRITABLE.test(line)) head[name] = line;
  }
  if (hasNoBody(status)) delete head['content-length'];
  if (head['content-type']?.startsWith('text/event-stream')) {
    head['cache-control'] = 'no-cache';
    head['x-accel-buffering'] = 'no';
  }
  return head;
}

/**
 * Returns the error for the client in place of an answer that is not its business; undefined: the
 * answer.
 */
export function refusalOf(status: number): GatewayError | undefined {
  if (DENIALS.has(status)) {
    const message = 'the API does not accept the credential that the gateway has for it';
    return new GatewayError('no_route_succeeded', { message, retry: false });
  }
  // A redirect is neither followed nor echoed: it may name any host.
  if (status >= 500 || status < 200 || (status >= 300 && status < 400 && status !== 304)) {
    return new GatewayError('api_failed');
  }
  return undefined;
}
