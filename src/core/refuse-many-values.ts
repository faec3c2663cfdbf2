import { GatewayError } from './errors.ts';

/** More than the largest sound body has; each may be found wrong, which takes time and memory. */
const MAX_VALUES = 50_000;

/**
 * Judges the size of a parsed body before a schema does, which looks at every value of it however many
 * are wrong.
 *
 * @throws GatewayError `invalid_request` for more than 50,000 values, those within others included
 */
export function refuseManyValues(body: unknown): void {
  let left = MAX_VALUES;
  const waiting = [body];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) continue;
    const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    left -= members.length;
    if (left < 0) {
      const message = `the body holds more than ${MAX_VALUES} values`;
      throw new GatewayError('invalid_request', { message });
    }
    for (const member of members) waiting.push(member);
  }
}
