import { GatewayError } from '../core/errors.ts';
import { queryCount } from '../core/query-count.ts';
import { instant } from '../resources/fields/fields.ts';
import { fingerprint } from '../resources/fields/fingerprint.ts';
import { parseInput } from './log/parse-input.ts';

const DEFAULT_LIMIT = 20;

/** Values of a parameter that may have many: repeated, with brackets or with commas. */
export function valuesOf(query: URLSearchParams, name: string): string[] | undefined {
  const all = [...query.getAll(name), ...query.getAll(`${name}[]`)];
  const values = all.flatMap((value) => value.split(',')).filter((value) => value !== '');
  return values.length === 0 ? undefined : [...new Set(values)].sort();
}

/** The one value of a parameter; undefined when it is absent or empty. */
export function valueOf(query: URLSearchParams, name: string): string | undefined {
  return query.get(name) || undefined;
}

/** @throws GatewayError `invalid_request` for a value that is none of those allowed */
export function choiceOf<T extends string>(
  query: URLSearchParams,
  name: string,
  allowed: readonly T[],
): T | undefined {
  const value = valueOf(query, name);
  const found = allowed.find((one) => one === value);
  if (value === undefined || found !== undefined) return found;
  throw refuse(name, `expected ${allowed.join(' or ')}`);
}

/** Larger ones are as good as `max`. @throws GatewayError `invalid_request` */
export function limitOf(query: URLSearchParams, max: number): number {
  return Math.min(queryCount(query, 'limit') ?? DEFAULT_LIMIT, max);
}

/** Bounds of a time, as `created_at[gt|gte|lt|lte]` gives them: `[bound, ISO 8601 in UTC]`. */
export type Bounds = readonly (readonly [bound: string, time: string])[];

/** @throws GatewayError `invalid_request` unless it is a time */
export function boundsOf(query: URLSearchParams): Bounds {
  return ['gt', 'gte', 'lt', 'lte'].flatMap((bound) => {
    const name = `created_at[${bound}]`;
    return query.getAll(name).map((value) => [bound, parseInput(instant, value, name)] as const);
  });
}

/** Times in one and the same form sort as texts. */
export function isWithin(bounds: Bounds, at: string): boolean {
  return bounds.every(([bound, time]) => {
    if (at === time) return bound.endsWith('e');
    return bound.startsWith('g') ? at > time : at < time;
  });
}

/** Cursors of one list, which no other list takes. They mean the same on every node, at any time. */
export interface Cursors {
  write(place: string): string;
  /** Undefined for the first page. @throws GatewayError `invalid_request` */
  read(query: URLSearchParams): string | undefined;
}

/**
 * @param list whatever makes the list another one: whose it is, its order, its filters
 * @param places form of all positions of the list; the mark of a cursor is no secret, so any may be sent
 */
export function cursorsOf(list: unknown, places: RegExp): Cursors {
  const mark = fingerprint(list).slice(0, 8);
  const write = (place: string): string => Buffer.from(`${mark}.${place}`).toString('base64url');
  return {
    write,
    read(query) {
      const value = valueOf(query, 'page');
      if (value === undefined) return undefined;
      const place = Buffer.from(value, 'base64url')
        .toString()
        .slice(mark.length + 1);
      if (places.test(place) && value === write(place)) return place;
      throw refuse('page', 'not a cursor of this list');
    },
  };
}

function refuse(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param}: ${what}`, param });
}
