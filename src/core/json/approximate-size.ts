/** Bytes of a number, `true`, `null` and the punctuation around a value. */
const SMALL = 8;

/**
 * Characters that a JSON value takes as text, without writing it: at least a sixth of its bytes in
 * UTF-8, escapes included.
 */
export function approximateSize(value: unknown): number {
  if (typeof value === 'string') return value.length + SMALL;
  if (typeof value !== 'object' || value === null) return SMALL;
  let size = SMALL;
  if (Array.isArray(value)) {
    for (const element of value) size += approximateSize(element);
    return size;
  }
  for (const [name, member] of Object.entries(value)) size += name.length + approximateSize(member);
  return size;
}
