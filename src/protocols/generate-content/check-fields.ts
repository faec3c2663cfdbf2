import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { fieldOf, toList, toSnake } from './fields.ts';
import type { Members } from './fields.ts';

/** A `list` may be given as its only object, as the vendor takes it. */
type Kind = 'list' | 'object' | 'string';

/** Fields of the body that the contract lists; every one may be left out. */
const FIELDS = {
  contents: 'list',
  systemInstruction: 'object',
  generationConfig: 'object',
  tools: 'list',
  toolConfig: 'object',
  safetySettings: 'list',
  cachedContent: 'string',
} as const satisfies Record<string, Kind>;

export const CHECKED_FIELDS: readonly string[] = Object.keys(FIELDS);

const NAMES: Record<Kind, string> = { list: 'an array', object: 'an object', string: 'a string' };

const IS: Record<Kind, (value: unknown) => boolean> = {
  list: (value) => Array.isArray(value) || isJsonObject(value),
  object: isJsonObject,
  string: (value) => typeof value === 'string',
};

/**
 * Checks the types of the fields that the contract lists (contract: Generate-content protocol), of
 * `contents` down to the parts. Throws `invalid_request` with the path of the field; a field in
 * both of its spellings is refused, because the next parser might read the other one.
 */
export function checkFields(body: Members): void {
  for (const [name, kind] of Object.entries(FIELDS)) {
    if (isGiven(body[name]) && toSnake(name) !== name && isGiven(body[toSnake(name)]))
      throw refused(name, 'is given in two spellings');
    expectKind(fieldOf(body, name), kind, name);
  }
  toList(fieldOf(body, 'contents')).forEach((content: unknown, index) =>
    checkContent(content, `contents[${index}]`),
  );
}

/** Throws unless it is an object whose `role` and `parts` have the right types. */
function checkContent(content: unknown, path: string): void {
  if (!isJsonObject(content)) throw refused(path, 'must be an object');
  expectKind(content['role'], 'string', `${path}.role`);
  const { parts } = content;
  expectKind(parts, 'list', `${path}.parts`);
  toList(parts).forEach((part: unknown, index) => {
    if (!isJsonObject(part)) throw refused(`${path}.parts[${index}]`, 'must be an object');
  });
}

/** Throws `invalid_request` for a value of another kind; a missing value or null is none. */
export function expectKind(value: unknown, kind: Kind, path: string): void {
  if (!isGiven(value) || IS[kind](value)) return;
  throw refused(path, `must be ${NAMES[kind]}`);
}

export function refused(path: string, why: string): GatewayError {
  return new GatewayError('invalid_request', { message: `\`${path}\` ${why}`, param: path });
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
