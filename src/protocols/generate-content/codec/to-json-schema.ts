import { isJsonObject } from '../../../core/json/value.ts';
import { toSnake } from '../fields.ts';

/** Proto JSON spells 64 bit numbers as strings. */
const COUNTS = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'];
/** Keywords of two words, and those that the SDK for Python spells without their `$`. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ...['anyOf', 'additionalProperties', 'prefixItems', 'propertyOrdering', ...COUNTS].map(
    (name) => [toSnake(name), name] as const,
  ),
  ['defs', '$defs'],
  ['ref', '$ref'],
]);
/** Keywords only of Google's own schemas: JSON Schema expresses them otherwise. */
const OWN = new Set(['nullable', 'propertyOrdering', 'example']);
/** Keywords whose members are names of the schema's author. */
const NAMED = new Set(['properties', '$defs']);

/** JSON Schema for a schema as Google writes it (OpenAPI 3.0: upper-case types, `nullable`). */
export function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema);
  if (!isJsonObject(schema)) return schema;
  const given = Object.entries(schema).map(
    ([name, value]) => [SPELLINGS.get(name) ?? name, value] as const,
  );
  const entries = given
    .filter(([name]) => !OWN.has(name))
    .map(([name, value]) => [name, toKeyword(name, value)] as const);
  const result: Record<string, unknown> = Object.fromEntries(entries);
  if (schema['example'] !== undefined) result['examples'] ??= [schema['example']];
  if (isJsonObject(result['properties']))
    result['properties'] = inOrder(result['properties'], new Map(given).get('propertyOrdering'));
  if (schema['nullable'] === true && typeof result['type'] === 'string')
    result['type'] = [result['type'], 'null'];
  if (result['format'] === 'enum') delete result['format'];
  return result;
}

/** Properties in the order that is wished for, as models write them in the order of a schema. */
function inOrder(properties: Record<string, unknown>, order: unknown): Record<string, unknown> {
  const wished = Array.isArray(order)
    ? order.filter((name) => Object.hasOwn(properties, name))
    : [];
  const first = Object.fromEntries(wished.map((name) => [name, properties[name]]));
  return { ...first, ...properties };
}

function toKeyword(name: string, value: unknown): unknown {
  if (name === 'type') return typeof value === 'string' ? value.toLowerCase() : value;
  if (COUNTS.includes(name)) return typeof value === 'string' ? Number(value) : value;
  if (NAMED.has(name) && isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([property, one]) => [property, toJsonSchema(one)]),
    );
  return name === 'enum' || name === 'default' ? value : toJsonSchema(value);
}
