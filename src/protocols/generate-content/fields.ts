import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';

export type Members = Readonly<Record<string, unknown>>;

/** A field in either spelling: JSON of protocol buffers reads `camelCase` and `snake_case`. */
export function fieldOf(object: Members, name: string): unknown {
  return object[name] ?? object[toSnake(name)];
}

/** Only the fields of those names, in the spellings in which they are given. */
export function pickFields(json: JsonDocument, names: readonly string[]): Members {
  const given = names.flatMap((name) => [name, toSnake(name)]).filter((name) => json.find(name));
  return Object.fromEntries(given.map((name) => [name, json.get(name)]));
}

/** The field where it is an object, else an empty one. */
export function membersOf(object: Members, name: string): Members {
  const value = fieldOf(object, name);
  return isJsonObject(value) ? value : {};
}

/** The objects of a field that is a list. */
export function listOf(object: Members, name: string): Record<string, unknown>[] {
  return toList(fieldOf(object, name)).filter(isJsonObject);
}

/** Values of a list; JSON of protocol buffers reads one object as a list of that object. */
export function toList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? [value] : [];
}

export function textOf(object: Members, name: string): string | undefined {
  const value = fieldOf(object, name);
  return typeof value === 'string' ? value : undefined;
}

export function toSnake(name: string): string {
  return SNAKE.get(name) ?? spellSnake(name);
}

function spellSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Snake-case names of the fields that are read from each of the many parts of a conversation. */
const SNAKE: ReadonlyMap<string, string> = new Map(
  [
    'text',
    'parts',
    'thoughtSignature',
    'functionCall',
    'functionResponse',
    'inlineData',
    'fileData',
    'fileUri',
    'mimeType',
    'data',
    'id',
    'name',
  ].map((name) => [name, spellSnake(name)]),
);

export function toCamel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
}
