import { isJsonObject } from '../../core/json/value.ts';

/** What is sealed of a write-only value: the value itself, or the one member of an object around it. */
export function secretText(value: unknown): unknown {
  return isJsonObject(value) ? Object.values(value)[0] : value;
}
