import { GatewayError } from '../core/errors.ts';
import type { ResourceDefinition, Stored } from './define-resource.ts';
import { toView } from './define-resource.ts';
import { fingerprint } from './fingerprint.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const PAGING = new Set(['limit', 'page']);

export interface ListRequest {
  limit: number;
  after: string | undefined;
  matches(stored: Stored): boolean;
  /** The opaque cursor behind the last item of a page. */
  cursorAfter(stored: Stored): string;
}

/**
 * Reads the query of a list: `limit` (default 20, capped at 100), `page`, `q`, `name` and the filters
 * of the kind; lists of values repeated, bracketed or with commas (requirement resource.query-and-time).
 *
 * @throws GatewayError `invalid_request` for a bad limit and for a cursor that is malformed or of
 *   another list
 */
export function parseListQuery(
  definition: ResourceDefinition,
  query: URLSearchParams,
): ListRequest {
  const wanted = readFilters(definition, query);
  const needle = query.get('q')?.toLowerCase() ?? '';
  const list = fingerprint([definition.kind, [...wanted], needle]).slice(0, 8);
  return {
    limit: readLimit(query.get('limit')),
    after: readCursor(query.get('page'), list),
    matches: (stored) => isMatch(toView(definition, stored), wanted, needle),
    cursorAfter: ({ id }) => Buffer.from(`${list}.${id}`).toString('base64url'),
  };
}

function readFilters(
  { filters }: ResourceDefinition,
  query: URLSearchParams,
): Map<string, string[]> {
  const wanted = new Map<string, string[]>();
  for (const [raw, value] of query) {
    const field = raw.replace(/\[\]$/, '');
    if (PAGING.has(field) || (field !== 'name' && !filters.includes(field))) continue;
    // A name may hold a comma; the other filters are words.
    const values = field === 'name' ? [value] : value.split(',');
    wanted.set(field, [...(wanted.get(field) ?? []), ...values]);
  }
  return wanted;
}

function isMatch(
  view: Record<string, unknown>,
  wanted: Map<string, string[]>,
  needle: string,
): boolean {
  for (const [field, values] of wanted) if (!values.includes(String(view[field]))) return false;
  if (needle === '') return true;
  return [view['id'], view['name']].some((text) => String(text).toLowerCase().includes(needle));
}

function readLimit(value: string | null): number {
  if (value === null || value === '') return DEFAULT_LIMIT;
  const limit = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (limit > 0) return Math.min(limit, MAX_LIMIT);
  throw new GatewayError('invalid_request', {
    message: 'limit: expected a whole number of at least 1',
    param: 'limit',
  });
}

function readCursor(value: string | null, list: string): string | undefined {
  if (value === null || value === '') return undefined;
  const [owner, id, ...rest] = Buffer.from(value, 'base64url').toString('utf8').split('.');
  if (owner === list && id && rest.length === 0) return id;
  throw new GatewayError('invalid_request', {
    message: 'page: not a cursor of this list',
    param: 'page',
  });
}
