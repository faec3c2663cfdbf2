import { isJsonObject } from '../../core/json/value.ts';

/** Keywords that bound a value and can be said in words as well. */
const BOUNDS: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]);
/** Formats that can be enforced. */
const FORMATS: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
/** Most elements that a list can be bound to have at least. */
const MAX_MIN_ITEMS = 1;
/** Keywords that hold schemas by name. */
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
/** Keywords that hold a schema or a list of them. */
const NESTED: ReadonlySet<string> = new Set(['items', 'prefixItems', 'anyOf', 'allOf']);

/**
 * A JSON Schema whose objects take no further properties and whose bounds are words of its
 * description, for models that refuse anything else (docs.claude.com, "Structured outputs").
 *
 * @param onLoss called for each bound, and for each object that was open
 */
export function closeSchema(schema: unknown, onLoss: () => void): unknown {
  if (Array.isArray(schema)) return schema.map((one) => closeSchema(one, onLoss));
  if (!isJsonObject(schema)) return schema;
  const closed: Record<string, unknown> = {};
  const bounds: string[] = [];
  for (const [name, value] of Object.entries(schema)) {
    if (isBound(name, value)) bounds.push(`${name}: ${JSON.stringify(value)}`);
    else if (NAMED.has(name) && isJsonObject(value)) closed[name] = closeEach(value, onLoss);
    else if (name === 'oneOf') closed['anyOf'] = closeSchema(value, onLoss);
    else closed[name] = NESTED.has(name) ? closeSchema(value, onLoss) : value;
  }
  if (isOfObjects(schema)) {
    // An object without a list of properties can hold anything; an empty list leaves it none.
    const { properties, additionalProperties: further = properties === undefined } = schema;
    if (further !== false) onLoss();
    closed['additionalProperties'] = false;
  }
  if (bounds.length === 0) return closed;
  onLoss();
  const words = `(${bounds.join(', ')})`;
  const { description } = schema;
  return {
    ...closed,
    description: typeof description === 'string' ? `${description} ${words}` : words,
  };
}

function closeEach(schemas: Record<string, unknown>, onLoss: () => void): Record<string, unknown> {
  const closed = Object.entries(schemas).map(([name, one]) => [name, closeSchema(one, onLoss)]);
  return Object.fromEntries(closed) as Record<string, unknown>;
}

function isBound(name: string, value: unknown): boolean {
  if (name === 'format') return !FORMATS.has(value);
  return BOUNDS.has(name) || (name === 'minItems' && Number(value) > MAX_MIN_ITEMS);
}

function isOfObjects({ type, properties }: Record<string, unknown>): boolean {
  return (
    type === 'object' ||
    (Array.isArray(type) && type.includes('object')) ||
    isJsonObject(properties)
  );
}
