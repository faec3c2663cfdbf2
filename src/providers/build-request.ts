import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { Protocol } from '../protocols/registry.ts';
import type { ClientHeaders } from '../protocols/define-protocol.ts';
import type { SpooledBody } from '../core/memory/spooled-body.ts';
import type { UpstreamRequest } from '../upstream/transport.ts';
import type { PreparedEndpoint, ProviderAccount } from './account.ts';
import { ENDPOINT_RULES } from './endpoint-rules.ts';
import { prepareEndpoint } from './prepare-endpoint.ts';

export interface UpstreamRequestOptions {
  account: ProviderAccount;
  protocol: Protocol;
  upstreamModel: string;
  body: Buffer | SpooledBody | undefined;
  stream: boolean;
  /** See {@link UpstreamRequest}. */
  repeatable?: boolean | undefined;
  /** Default POST. */
  method?: UpstreamRequest['method'];
  /** Operation of a protocol that has several, put into the path as its endpoint rules say. */
  operation?: string | undefined;
  /** Segments after the path, not encoded: `['count_tokens']`, `[id, 'content']`. */
  below?: readonly string[];
  /** Query without `?`. Default: that of the protocol's streams. */
  query?: string;
  /** Default `application/json` where there is a body. */
  contentType?: string | undefined;
  /** Headers of the client; only those that the protocol has of its own are taken. */
  clientHeaders?: ClientHeaders | undefined;
}

/**
 * The request that goes to a provider: its address, its credential once, and of the client nothing
 * but the body and what the contract forwards (requirement
 * auth.upstream.client-credential-not-forwarded). Throws `unsupported_feature` when the account does
 * not speak the protocol, `invalid_request` for a segment that would leave the path.
 */
export function buildUpstreamRequest(options: UpstreamRequestOptions): UpstreamRequest {
  const { account, protocol, method = 'POST', body, repeatable } = options;
  const endpoint = account.endpoints?.get(protocol) ?? prepareEndpoint(account, protocol);
  return {
    url: urlOf(endpoint, options),
    method,
    headers: headersOf(endpoint, options),
    body,
    repeatable,
  };
}

function urlOf(endpoint: PreparedEndpoint, options: UpstreamRequestOptions): URL {
  const { protocol, operation, below, stream, upstreamModel } = options;
  const { operationReplaces, method, streamQuery } = ENDPOINT_RULES[protocol];
  if (endpoint.url && operation === undefined && !below && options.query === undefined)
    return endpoint.url;
  let address = endpoint.address;
  if (operation !== undefined && operationReplaces)
    address = address.replace(/\/[^/]*$/, `/${operation}`);
  else if (operation !== undefined && !address.includes('{method}')) address += `/${operation}`;
  address = address
    .replace('{model}', () => segment(upstreamModel))
    .replace('{method}', () => segment(operation ?? method?.(stream) ?? ''));
  for (const part of below ?? []) address += `/${segment(part)}`;
  const query = options.query ?? ((stream && streamQuery) || '');
  return new URL(address + joinSearch(endpoint.search, query));
}

function joinSearch(search: string, query: string): string {
  if (query === '') return search;
  return search === '' ? `?${query}` : `${search}&${query}`;
}

function segment(text: string): string {
  // URL parsing takes these for steps through the path even when they are percent-encoded.
  if (text === '.' || text === '..' || text === '') {
    throw new GatewayError('invalid_request', { message: 'not a valid name or id' });
  }
  return encodeURIComponent(text);
}

function headersOf(endpoint: PreparedEndpoint, options: UpstreamRequestOptions): string[] {
  const { account, protocol, body, stream, contentType, clientHeaders = {} } = options;
  const own = ENDPOINT_RULES[protocol].headers;
  const isOwn =
    own !== undefined &&
    (own.names.some((name) => clientHeaders[name]) ||
      Object.keys(clientHeaders).some((name) => name.startsWith(own.prefix)));
  if (body && contentType === undefined && !isOwn) {
    return stream ? endpoint.streamHeaders : endpoint.jsonHeaders;
  }
  const headers = [
    ...endpoint.headers,
    'accept',
    stream ? 'text/event-stream' : 'application/json',
  ];
  if (body) headers.push('content-type', contentType ?? 'application/json');
  if (own) headers.push(...own.toHeaders(account, clientHeaders));
  return headers;
}
