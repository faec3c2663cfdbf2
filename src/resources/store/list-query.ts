import { GatewayError } from '../../core/errors.ts';
import { idTime } from '../../core/ids.ts';
import { queryCount } from '../../core/query-count.ts';
import { isArchived } from './stored.ts';
import type { Stored } from './stored.ts';
import type { ResourceDefinition } from './define-resource.ts';
import { toView } from './define-resource.ts';
import { instant } from '../fields/fields.ts';
import { fingerprint } from '../fields/fingerprint.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export interface ListRequest {
  limit: number;
  after: string | undefined;
  /** Order by id, which is by time; default: the kind's own. */
  order: 'asc' | 'desc' | undefined;
  matches(stored: Stored): boolean;
  /** The opaque cursor after the last item of a page. */
  cursorAfter(stored: Stored): string;
}

/** Filters of a list: values of each field, of which one must match, and bounds of times. */
interface Filters {
  archived: boolean;
  fields: [field: string, values: string[]][];
  times: [bound: string, time: string][];
  needle: string;
}

/**
 * Reads the query of a list: `limit` (default 20, capped at 100), `page`, `q` or `search`, `name`, the filters of
 * the kind, `include_archived` and `created_at[gt|gte|lt|lte]`; lists of values repeated, bracketed or with commas
 * (requirement resource.query-and-time). Kinds with dialects take
 * `after_id` and `order` (`asc`, `desc`), too.
 *
 * @throws GatewayError `invalid_request` for a bad limit or time and for a cursor that is malformed
 *   or of another list
 */
export function parseListQuery(
  definition: ResourceDefinition,
  query: URLSearchParams,
): ListRequest {
  const filters = readFilters(definition, query);
  const own = definition.api?.dialects ? query : new URLSearchParams();
  const order = readOrder(own.get('order'));
  const list = fingerprint([definition.kind, filters, ...(order ? [order] : [])]).slice(0, 8);
  return {
    limit: readLimit(query),
    after:
      readCursor(query.get('page'), { list, prefix: definition.idPrefix }) ??
      readAfterId(own.get('after_id'), definition),
    order,
    matches: (stored) =>
      (filters.archived || !isArchived(stored)) && isMatch(definition, stored, filters),
    cursorAfter: ({ id }) => toCursor(list, id),
  };
}

/** Sorted, so that the order in which they are written makes no other list. */
function readFilters(definition: ResourceDefinition, query: URLSearchParams): Filters {
  const wanted = new Map<string, Set<string>>();
  const times: Filters['times'] = [];
  for (const [raw, value] of query) {
    const bound = /^created_at\[(gte?|lte?)\]$/.exec(raw)?.[1];
    if (bound !== undefined) times.push([bound, readTime(raw, value)]);
    const name = raw.replace(/\[\]$/, '');
    const field = name === 'ids' ? 'id' : name;
    if (field !== 'name' && !definition.filters.includes(field)) continue;
    // A name may hold a comma; the other filters are words.
    const values = field === 'name' ? [value] : value.split(',');
    wanted.set(field, new Set([...(wanted.get(field) ?? []), ...values]));
  }
  const fields = [...wanted].map(([field, values]): [string, string[]] => [
    field,
    [...values].sort(),
  ]);
  const needle = (query.get('q') ?? query.get('search'))?.toLowerCase() ?? '';
  const archived =
    readFlag('include_archived', query.get('include_archived')) ||
    wanted.get('status')?.has('archived') === true;
  return { archived, fields: fields.sort(byText), times: times.sort(byText), needle };
}

/** @throws GatewayError `invalid_request` */
function readOrder(value: string | null): ListRequest['order'] {
  if (value === null || value === '') return undefined;
  if (value === 'asc' || value === 'desc') return value;
  throw new GatewayError('invalid_request', {
    message: 'order: expected asc or desc',
    param: 'order',
  });
}

/** @throws GatewayError `invalid_request` */
function readAfterId(
  value: string | null,
  { idPrefix }: Pick<ResourceDefinition, 'idPrefix'>,
): string | undefined {
  if (value === null || value === '') return undefined;
  if (isIdOf(idPrefix, value)) return value;
  const message = `after_id: expected the id of a ${idPrefix}, as the list shows it`;
  throw new GatewayError('invalid_request', { message, param: 'after_id' });
}

/** A longer one could be no key of the store. */
function isIdOf(prefix: string, value: string): boolean {
  const isPrefixed = value.startsWith(`${prefix}_`) && value.lastIndexOf('_') === prefix.length;
  return isPrefixed && idTime(value) !== undefined;
}

function readFlag(param: string, value: string | null): boolean {
  if (value === null || value === '' || value === 'false') return false;
  if (value === 'true') return true;
  const message = `${param}: expected true or false`;
  throw new GatewayError('invalid_request', { message, param });
}

function isMatch(
  definition: ResourceDefinition,
  stored: Stored,
  { fields, times, needle }: Filters,
): boolean {
  const view = toView(definition, stored);
  for (const [field, values] of fields)
    if (!values.includes(String(typeOf(view[field])))) return false;
  const at = String(view['created_at']);
  if (!times.every(([bound, time]) => isWithin(at, bound, time))) return false;
  if (needle === '') return true;
  return ['id', 'name', ...(definition.search ?? [])].some((field) =>
    textOf(view[field]).toLowerCase().includes(needle),
  );
}

/** The value of an object is its type. */
function typeOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'type' in value ? value.type : value;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function byText([a, one]: [string, unknown], [b, other]: [string, unknown]): number {
  return `${a} ${String(one)}` < `${b} ${String(other)}` ? -1 : 1;
}

/** Times in one and the same form sort as texts. */
function isWithin(at: string, bound: string, time: string): boolean {
  if (at === time) return bound.endsWith('e');
  return bound.startsWith('g') ? at > time : at < time;
}

function readTime(param: string, value: string): string {
  const read = instant.safeParse(value);
  if (read.success) return read.data;
  const message = `${param}: ${read.error.issues[0]?.message ?? 'expected a time'}`;
  throw new GatewayError('invalid_request', { message, param });
}

/** @throws GatewayError `invalid_request` */
export function readLimit(query: URLSearchParams): number {
  return Math.min(queryCount(query, 'limit') ?? DEFAULT_LIMIT, MAX_LIMIT);
}

function toCursor(list: string, id: string): string {
  return Buffer.from(`${list}.${id}`).toString('base64url');
}

function readCursor(
  value: string | null,
  { list, prefix }: { list: string; prefix: string },
): string | undefined {
  if (value === null || value === '') return undefined;
  const id = Buffer.from(value, 'base64url')
    .toString('utf8')
    .slice(list.length + 1);
  if (isIdOf(prefix, id) && value === toCursor(list, id)) return id;
  throw new GatewayError('invalid_request', {
    message: 'page: not a cursor of this list',
    param: 'page',
  });
}
