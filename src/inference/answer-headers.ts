import { fromNanos } from '../core/money.ts';
import { percentEncode } from '../core/printable.ts';
import { UNSUPPORTED } from './failures.ts';
import type { Call, ResponseHeaders } from './types.ts';

/** Bytes that a field value may hold as they are; a name may hold any character. */
const PLAIN = /^[\x21-\x24\x26-\x7e]+$/;

/** Most characters of a name in the head: names of models that a provider is passed come from clients. */
const MOST_CHARS = 512;

/**
 * Head of an answer that names its source: `x-gateway-model` (after a fallback not the one that was asked for),
 * `x-gateway-provider`, `x-gateway-attempts`, `x-gateway-cost` in USD where it is known by then,
 * `x-gateway-dropped-fields` where fields did not reach the provider. In an error the model is the one that was
 * asked for, and the provider the last that was tried. Names are percent-encoded where a field value cannot
 * hold them.
 */
export function describeAnswer({ record, model }: Call, headers: ResponseHeaders): void {
  const { answeredBy, losses, cost } = record;
  const asked = record.attempts.filter(({ outcome }) => outcome !== UNSUPPORTED);
  const provider = answeredBy?.route.provider.name ?? asked.at(-1)?.provider;
  headers['x-gateway-model'] = toFieldValue((answeredBy?.model ?? model).id);
  if (provider !== undefined) headers['x-gateway-provider'] = toFieldValue(provider);
  headers['x-gateway-attempts'] = String(asked.length);
  if (cost !== undefined) headers['x-gateway-cost'] = fromNanos(cost);
  if (losses.length > 0) nameDropped(losses, headers);
}

/** Names the fields that a candidate of another protocol did not get (requirement chat.request.translated-fields). */
function nameDropped(losses: readonly string[], headers: ResponseHeaders): void {
  const names = losses.filter((name) => /^[\x21-\x2b\x2d-\x7e]+$/.test(name));
  if (names.length > 0) headers['x-gateway-dropped-fields'] = names.join(',');
}

function toFieldValue(name: string): string {
  const shown = name.length > MOST_CHARS ? name.slice(0, MOST_CHARS) : name;
  return PLAIN.test(shown) ? shown : percentEncode(shown);
}
