import { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import { matchesPath, mayLeave } from '../routing/api-paths.ts';
import type { Api } from '../routing/catalog.ts';

/** Matches characters that no URI can hold as they are (RFC 3986). */
const UNFIT = /[^\x21-\x7e]|["#<>^`{}]/g;

/**
 * The part of a path or query as it can be sent: what no URI can hold is percent-encoded byte by
 * byte, everything else stays as it is.
 *
 * @param encoding of the text: Node.js gives a request target as `latin1`
 */
export function toUriText(text: string, encoding: 'latin1' | 'utf8'): string {
  const bytes = encoding === 'latin1' ? text : Buffer.from(text).toString('latin1');
  return bytes.replace(UNFIT, (char) => {
    return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

export interface TargetAddress {
  /** Empty, or the path after the name of the API, with its `/`; see {@link toUriText}. */
  readonly path: string;
  /** Empty, or the query with its `?`. */
  readonly search: string;
}

/**
 * The address of a call at its API: below the base path, whatever the client wrote, with the segments
 * and the query as they came, but for the client's `key` and what the operator sends in its place
 * (requirement passthrough.path).
 *
 * @throws GatewayError `not_found` for a path that is not offered; `invalid_request` for one that
 *   could be read as leading elsewhere
 */
export function toTarget(api: Api, { path, search }: TargetAddress): URL {
  // An empty first segment could be read as `//host` after an empty base path.
  if (path.startsWith('//') || mayLeave(path)) throw unsafePath();
  if (!api.paths.some((pattern) => matchesPath(pattern, path))) {
    const message = `the API ${api.name} does not offer this path`;
    throw new GatewayError('not_found', { message });
  }
  const expected = `${api.basePath}${path}` || '/';
  const query = queryOf(api, search);
  const address = `${api.origin}${expected}${query === '' ? '' : `?${query}`}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // A path goes out if a parser of URLs leaves it unchanged.
  if (url?.origin !== api.origin || url.pathname !== expected || url.hash) throw unsafePath();
  return url;
}

function unsafePath(): GatewayError {
  return new GatewayError('invalid_request', {
    message: 'the path must not contain . or .. segments, control characters or broken encoding',
  });
}

function queryOf({ auth, baseQuery, secret }: Api, search: string): string {
  const own = auth.type === 'query' && secret !== undefined ? [[auth.name, secret] as const] : [];
  const base = baseQuery === '' ? [] : baseQuery.split('&');
  const replaced = new Set(['key', ...own.map(([name]) => name), ...base.map(nameOf)]);
  const client = search === '' ? [] : search.slice(1).split('&');
  return [
    ...base,
    ...client.filter((pair) => !replaced.has(nameOf(pair))),
    ...own.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  ].join('&');
}

/** Reads the name of a pair as a server does. */
function nameOf(pair: string): string {
  return new URLSearchParams(pair).keys().next().value ?? '';
}
