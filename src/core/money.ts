/** US dollars as people write them: a decimal string (`"10.50"`) or a JSON number. */
export type Dollars = string | number;

const NANOS = 1_000_000_000;
const DECIMAL = /^(\d{1,7})(?:\.(\d+))?$/;

/**
 * Exact nano-dollars (1e-9 USD) of an amount.
 *
 * @throws RangeError unless it is a decimal of at least 0, below 10 million, with at most 9 decimal places
 */
export function toNanos(amount: Dollars): number {
  const match = DECIMAL.exec(toPlainDecimal(amount));
  const places = match?.[2]?.replace(/(?<!0)0+$/, '') ?? '';
  if (!match || places.length > 9) {
    throw new RangeError(`not an amount in USD: ${JSON.stringify(amount)}; write 10 or "10.50"`);
  }
  return Number(match[1]) * NANOS + Number(places.padEnd(9, '0'));
}

/** Nano-dollars as an exact decimal string with at least two decimal places: `450000000` → `0.45`. */
export function fromNanos(nanos: number): string {
  const whole = Math.trunc(Math.abs(nanos) / NANOS);
  const places = String(Math.abs(nanos) % NANOS)
    .padStart(9, '0')
    .replace(/0{1,7}$/, '');
  return `${nanos < 0 ? '-' : ''}${whole}.${places}`;
}

/** A price in USD per million tokens, as (possibly fractional) nano-dollars per token. */
export function perMillionToNanos(price: Dollars): number {
  return toNanos(price) / 1_000_000;
}

/** `1e-7` and the like are how JSON numbers of small amounts print. */
function toPlainDecimal(amount: Dollars): string {
  if (typeof amount === 'string') return amount.trim();
  return /e/i.test(String(amount)) ? amount.toFixed(12).replace(/(?<!0)0+$/, '') : String(amount);
}
