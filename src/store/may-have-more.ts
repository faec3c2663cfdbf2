import { approximateSize } from '../core/json/approximate-size.ts';
import type { ListOptions } from './store.ts';

/** Most bytes that one character of a text takes in a store: an escaped control character. */
const BYTES_PER_CHARACTER = 6;

/** False for a list that surely ended with its rows, and not at a bound. */
export function mayHaveMore(
  values: readonly unknown[],
  { limit, maxBytes }: Required<Pick<ListOptions, 'limit' | 'maxBytes'>>,
): boolean {
  if (values.length >= limit) return true;
  let bytes = 0;
  for (const value of values) bytes += approximateSize(value) * BYTES_PER_CHARACTER;
  return bytes >= maxBytes;
}
