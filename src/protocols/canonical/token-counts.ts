/** True for a number of tokens, as providers count them; some write fractions. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

/** The number of tokens, 0 for anything else. */
export function countOf(value: unknown): number {
  return isCount(value) ? Math.round(value) : 0;
}
