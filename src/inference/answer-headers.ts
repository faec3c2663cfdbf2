import { fromNanos } from '../core/money.ts';
import type { Call, ResponseHeaders } from './types.ts';

/** Bytes that a field value may hold as they are; a name may hold any character. */
const PLAIN = /^[\x21-\x24\x26-\x7e]+$/;

/**
 * Head of a good answer that tells who gave it: `x-gateway-model` (after a fallback not the one that was
 * asked for), `x-gateway-provider`, `x-gateway-attempts`, `x-gateway-cost` in USD where it is known by
 * then, `x-gateway-dropped-fields` where fields did not reach the provider. Names are percent-encoded
 * where a field value cannot hold them.
 */
export function describeAnswer({ record, model }: Call, headers: ResponseHeaders): void {
  const { answeredBy, attempts, losses, cost } = record;
  headers['x-gateway-model'] = toFieldValue((answeredBy?.model ?? model).id);
  if (answeredBy) headers['x-gateway-provider'] = toFieldValue(answeredBy.route.provider.name);
  headers['x-gateway-attempts'] = String(attempts.length);
  if (cost !== undefined) headers['x-gateway-cost'] = fromNanos(cost);
  if (losses.length > 0) nameDropped(losses, headers);
}

/** Names the fields that a candidate of another protocol did not get (requirement chat.request.translated-fields). */
function nameDropped(losses: readonly string[], headers: ResponseHeaders): void {
  const names = losses.filter((name) => /^[\x21-\x2b\x2d-\x7e]+$/.test(name));
  if (names.length > 0) headers['x-gateway-dropped-fields'] = names.join(',');
}

function toFieldValue(name: string): string {
  return PLAIN.test(name) ? name : encodeURIComponent(name);
}
