import { isJsonObject } from '../../core/json/value.ts';

/**
 * Text to seal of a write-only value: the value itself, or the one member of an object around it.
 */
export function secretText(value: unknown): unknown {
  return isJsonObject(value) ? Object.values(value)[0] : value;
}
