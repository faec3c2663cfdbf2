import { GatewayError } from './errors.ts';

/**
 * Reads a count from a query; undefined when it is absent or empty.
 *
 * @throws GatewayError `invalid_request` for anything but the digits of a number from `least` (default 1)
 */
export function queryCount(query: URLSearchParams, param: string, least = 1): number | undefined {
  const text = query.get(param);
  if (text === null || text === '') return undefined;
  const count = /^\d+$/.test(text) ? Number(text) : -1;
  if (count >= least) return Math.min(count, Number.MAX_SAFE_INTEGER);
  const message = `${param}: expected a whole number of at least ${least}`;
  throw new GatewayError('invalid_request', { message, param });
}
