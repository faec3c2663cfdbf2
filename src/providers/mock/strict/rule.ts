import { isJsonObject } from '../../../core/json/value.ts';
import type { Protocol } from '../../../protocols/registry.ts';

/** An object of parsed JSON whose members are not known. */
export type JsonObject = Record<string, unknown>;

/** Bound that a vendor's reference states for one member of a request. */
export interface Bound {
  /** Path in the body, where `[]` is each element: `tools[].function.name`. */
  readonly at: string;
  readonly pattern?: RegExp;
  /** Most characters of a text, or elements of a list. */
  readonly most?: number;
  readonly least?: number;
}

/** Rule between members of a request; gives the vendor's refusal, if any. */
export interface StrictRule {
  /** Upstream models that have it; absent: all. */
  readonly models?: RegExp;
  /** Address of the vendor's page, or of its refusal on record. */
  readonly source: string;
  refusal(body: JsonObject, model: string): string | undefined;
}

/** A vendor's rules in one of its protocols. */
export interface StrictProtocol {
  readonly protocol: Protocol;
  /** Address of the reference that states the bounds. */
  readonly reference: string;
  readonly bounds: readonly Bound[];
  readonly rules: readonly StrictRule[];
  /** Member of its answers that holds reasoning, where its protocol has several. */
  readonly reasoning?: string;
}

/** A vendor's words for values out of bounds. */
export interface BoundWords {
  path(steps: readonly (string | number)[]): string;
  pattern(path: string, pattern: RegExp): string;
  tooLong(path: string, most: number, length: number): string;
  tooMany(path: string, most: number, length: number): string;
  tooLittle(path: string, least: number, value: number): string;
}

type Place = readonly [steps: readonly (string | number)[], value: unknown];

/** The refusal of the first value that is out of a bound. */
export function outOfBounds(
  body: JsonObject,
  bounds: readonly Bound[],
  words: BoundWords,
): string | undefined {
  for (const bound of bounds)
    for (const [steps, value] of placesAt(body, bound.at)) {
      const refusal = refusalOf(value, bound, { words, path: words.path(steps) });
      if (refusal !== undefined) return refusal;
    }
  return undefined;
}

function refusalOf(
  value: unknown,
  { pattern, most = Infinity, least = -Infinity }: Bound,
  { words, path }: { words: BoundWords; path: string },
): string | undefined {
  if (typeof value === 'number' && value < least) return words.tooLittle(path, least, value);
  if (Array.isArray(value) && value.length > most) return words.tooMany(path, most, value.length);
  if (typeof value !== 'string') return undefined;
  if (value.length > most) return words.tooLong(path, most, value.length);
  return pattern && !pattern.test(value) ? words.pattern(path, pattern) : undefined;
}

/** Values at a path, each with the steps that lead to it. */
function placesAt(body: JsonObject, at: string): Place[] {
  let places: Place[] = [[[], body]];
  for (const step of at.split('.')) {
    const [name = '', ...lists] = step.split('[]');
    places = places.flatMap(([steps, value]): Place[] =>
      isJsonObject(value) && value[name] !== undefined ? [[[...steps, name], value[name]]] : [],
    );
    for (const _list of lists)
      places = places.flatMap(([steps, value]): Place[] =>
        Array.isArray(value) ? value.map((one, index) => [[...steps, index], one]) : [],
      );
  }
  return places;
}

/** The objects of a list; none where there is no list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The object; an empty one where there is none. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The first text of a list that another one equals. */
export function firstRepeated(texts: readonly unknown[]): unknown {
  return texts.find((text, index) => texts.indexOf(text) !== index);
}

/** A value of JSON as a text; empty where there is none. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
