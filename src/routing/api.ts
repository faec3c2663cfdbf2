import { parseJsonPath } from '../core/json/path.ts';
import type { JsonPath } from '../core/json/path.ts';
import { GatewayError } from '../core/errors.ts';
import { parsePathPattern } from './api-paths.ts';
import type { PathPattern } from './api-paths.ts';

export type ApiMethod = 'GET' | 'POST';

/** Form in which the credential of an API is sent. */
export type ApiAuth =
  | { readonly type: 'none' }
  | { readonly type: 'bearer' }
  | { readonly type: 'header'; readonly name: string; readonly prefix?: string | undefined }
  | { readonly type: 'query'; readonly name: string }
  /** HTTP Message Signatures (RFC 9421) with HMAC-SHA-256; nothing of the secret is sent. */
  | { readonly type: 'signature'; readonly key_id: string };

/** Units of an answer that can be counted, by the names that prices have. */
export const API_USAGE = ['input', 'output', 'images', 'seconds'] as const;
export type ApiUsageClass = (typeof API_USAGE)[number];

export interface ApiUsageField {
  readonly counts: ApiUsageClass;
  readonly path: JsonPath;
  /** The most that one call is expected to report; the basis of reservations. */
  readonly most: number;
}

/** An upstream API as it can be called, but for what only the catalog knows. */
export interface ApiTarget {
  readonly name: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Below which every call stays; without a trailing slash, so empty for the root. */
  readonly basePath: string;
  /** Query of every call; without `?`. */
  readonly baseQuery: string;
  readonly auth: ApiAuth;
  /** The unsealed credential; never logged, never in an error. */
  readonly secret: string | undefined;
  /** Headers of every call; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly methods: readonly ApiMethod[];
  readonly paths: readonly PathPattern[];
  /** Response headers that reach clients in addition to the usual; names in lower case. */
  readonly responseHeaders: readonly string[];
  readonly usage: readonly ApiUsageField[];
  /** Most connections at once from this process; undefined for the usual number. */
  readonly connections?: number | undefined;
}

/** The fields of an api resource that say how to reach it. */
export interface ApiSettings {
  name: string;
  base_url: string;
  auth: ApiAuth;
  headers: Readonly<Record<string, string>>;
  methods: readonly ApiMethod[];
  paths: readonly string[];
  response_headers: readonly string[];
  usage: Partial<Record<ApiUsageClass, { field: string; most: number }>>;
  connections?: number | null | undefined;
}

const RESERVED: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers of an upstream that are never a client's business (contract: Errors, retry headers of
 * 429).
 */
const NEVER_TOLD =
  /^(set-cookie2?|www-authenticate|authorization|authentication-info|location|retry-after(-ms)?|x-should-retry|(x-)?rate-?limit.*|x-request-id|request-id)$/;

/**
 * Makes a target of an api resource and its unsealed credential. Throws `invalid_request` with
 * `param` for an unusable address, header, path or field, and for a missing credential. No message
 * contains the credential.
 */
export function resolveApi(settings: ApiSettings, secret: string | undefined): ApiTarget {
  const { auth } = settings;
  if (auth.type !== 'none' && !secret) {
    throw invalid('api_key', `an API with auth of type ${auth.type} needs api_key`);
  }
  if (secret && !isHeaderValue(secret)) {
    throw invalid('api_key', 'api_key contains characters that cannot be sent');
  }
  if (auth.type === 'header') checkHeader('auth.name', auth.name, '');
  return {
    name: settings.name,
    ...readBaseUrl(settings.base_url),
    auth,
    secret,
    headers: readHeaders(settings.headers),
    methods: settings.methods,
    paths: settings.paths.map(readPattern),
    responseHeaders: settings.response_headers.map(readResponseHeader),
    usage: Object.entries(settings.usage).map(([counts, { field, most }]) => ({
      counts: counts as ApiUsageClass,
      path: readField(counts, field),
      most,
    })),
    connections: settings.connections ?? undefined,
  };
}

function readBaseUrl(text: string): Pick<ApiTarget, 'origin' | 'basePath' | 'baseQuery'> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalid('base_url', 'base_url must be an absolute http or https URL');
  }
  if (url.username || url.password || url.hash) {
    throw invalid('base_url', 'base_url must not contain a user name, a password or a fragment');
  }
  return {
    origin: url.origin,
    basePath: url.pathname.replace(/(?<!\/)\/+$/, ''),
    baseQuery: url.search.slice(1),
  };
}

function readHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => {
    checkHeader('headers', name, value);
    return [name.toLowerCase(), value] as const;
  });
  return Object.fromEntries(entries);
}

function checkHeader(param: string, name: string, value: string): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || RESERVED.has(name.toLowerCase())) {
    throw invalid(param, `the header ${JSON.stringify(name.slice(0, 64))} cannot be set`);
  }
  if (value !== '' && !isHeaderValue(value)) {
    throw invalid(
      param,
      `the value of ${name.toLowerCase()} contains characters that cannot be sent`,
    );
  }
}

function readPattern(text: string, index: number): PathPattern {
  const pattern = parsePathPattern(text);
  if (pattern) return pattern;
  const message = 'a path begins with /; * stands for one segment, ** at its end for any rest';
  throw invalid(`paths[${index}]`, message);
}

function readResponseHeader(name: string, index: number): string {
  const lower = name.toLowerCase();
  if (!NEVER_TOLD.test(lower) && !RESERVED.has(lower)) return lower;
  throw invalid(`response_headers[${index}]`, `the header ${lower} is never passed to clients`);
}

function readField(counts: string, field: string): JsonPath {
  const path = parseJsonPath(field);
  if (path) return path;
  const message = 'a field is written like $.usage.total_tokens or $.data[0].size';
  throw invalid(`usage.${counts}.field`, message);
}

/** Visible characters, spaces between them and Latin-1 (RFC 9110, 5.5). */
function isHeaderValue(value: string): boolean {
  return /^[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(value);
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', { param, message });
}
