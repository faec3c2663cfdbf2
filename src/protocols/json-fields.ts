import { GatewayError } from '../core/errors.ts';
import { isJsonObject } from '../core/json/value.ts';

export type Members = Readonly<Record<string, unknown>>;

/** `invalid_request` with the path of the field at fault. */
export function invalid(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `\`${param}\` must be ${what}`, param });
}

/** A reader of one optional field: null is as good as absent, another type is the client's fault. */
function optional<T>(is: (value: unknown) => value is T, what: string) {
  return (value: unknown, param: string): T | undefined => {
    if (value === undefined || value === null) return undefined;
    if (!is(value)) throw invalid(param, what);
    return value;
  };
}

export const readText = optional((value) => typeof value === 'string', 'a string');
export const readNumber = optional(
  // A number that is too large is parsed as one without an end.
  (value): value is number => typeof value === 'number' && Number.isFinite(value),
  'a number',
);
export const readFlag = optional((value) => typeof value === 'boolean', 'a boolean');
export const readObject = optional(isJsonObject, 'an object');
export const readList = optional((value): value is unknown[] => Array.isArray(value), 'an array');

export function requireText(value: unknown, param: string): string {
  const text = readText(value, param);
  if (text === undefined) throw invalid(param, 'a string');
  return text;
}

export function requireObject(value: unknown, param: string): Members {
  const object = readObject(value, param);
  if (!object) throw invalid(param, 'an object');
  return object;
}

/**
 * The first of two members that say the same; the other one is lost where it says something else.
 *
 * @param lose takes the name of the one that is lost
 */
export function firstOf(
  value: Members,
  [name, other]: readonly [string, string],
  lose: (name: string) => void,
): string {
  const first = value[name] ?? undefined;
  const second = value[other] ?? undefined;
  if (first === undefined) return other;
  if (second !== undefined && JSON.stringify(first) !== JSON.stringify(second)) lose(other);
  return name;
}

/** An object whose members are all texts. */
export function readTexts(value: unknown, param: string): Record<string, string> | undefined {
  const object = readObject(value, param);
  if (!object) return undefined;
  const entries = Object.entries(object).map(([name, text]): [string, string] => [
    name,
    requireText(text, `${param}.${name}`),
  ]);
  return Object.fromEntries(entries);
}

/** The object, or an empty one for anything else. */
export function membersOf(value: unknown): Members {
  return isJsonObject(value) ? value : {};
}

/** False for zero values, with which some servers write the members that they do not mean. */
export function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isJsonObject(value) ? Object.values(value).some(isFilled) : Boolean(value);
}

/** The members that are not undefined. */
export function defined<T extends object>(
  members: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
