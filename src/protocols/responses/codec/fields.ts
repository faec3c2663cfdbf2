import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { Members } from '../../json-fields.ts';

/** Makes the error for a field that only a provider of Responses can serve. */
export function unsupported(param: string): GatewayError {
  const message = `no route of this model supports \`${param}\``;
  return new GatewayError('unsupported_feature', { message, param });
}

/** The objects of a list; of anything else none. */
export function objectsOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
