import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json/value.ts';

export type Members = Readonly<Record<string, unknown>>;

/** A text member of the object whose path is `path`. */
export function readText(object: Members, name: string, path: string): string {
  const value = object[name];
  if (typeof value === 'string') return value;
  throw invalid(`${path}.${name}`, 'a string');
}

export function readObject(value: unknown, path: string): Members {
  if (isJsonObject(value)) return value;
  throw invalid(path, 'an object');
}

export function readList(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(path, 'an array');
}

export function invalid(param: string, expected: string): GatewayError {
  return new GatewayError('invalid_request', {
    message: `\`${param}\` must be ${expected}`,
    param,
  });
}
