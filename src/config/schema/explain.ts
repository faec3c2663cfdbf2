import { suggest } from '../../core/suggest.ts';
import { configJsonSchema } from './json-schema.ts';
import { CONFIG_KINDS, kindNamed } from '../objects/kinds.ts';
import { isRecord } from '../objects/record.ts';

/** Description of one key of gateway.yaml. */
export interface Explanation {
  readonly path: string;
  readonly description: string | null;
  /** Type in words: `text`, `list of objects`, `one of a, b`. */
  readonly type: string;
  /** Undefined when there is none. */
  readonly default?: unknown;
  readonly required: boolean;
  /** Effect of an update on it; null for a key of which no object is made. */
  readonly update: string | null;
  /** The keys below it. */
  readonly members: readonly { readonly name: string; readonly description: string | null }[];
}

type Schema = Readonly<Record<string, unknown>>;

/** A path that leads nowhere, and the key that may be meant. */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError';
  readonly hint: string | undefined;

  constructor(message: string, hint: string | undefined) {
    super(message);
    this.hint = hint;
  }
}

/**
 * Explains `KIND.field` (`model.routes.provider`), `section.field` or `server.listen.port`, from the
 * schema that validation itself uses.
 *
 * @throws UnknownKeyError
 */
export function explain(path: string): Explanation {
  const steps = path
    .replace(/\[\d*\]/g, '')
    .split('.')
    .filter((step) => step !== '');
  const [first = '', ...rest] = steps;
  const named = kindNamed(first);
  const kind = CONFIG_KINDS.find((one) => one.kind === named);
  const root = configJsonSchema();
  let at = descend(root, kind?.collection ?? first, '');
  let required = false;
  const walked = [first];
  for (const step of rest) {
    const parent = objectOf(at);
    required = isRequired(parent, step);
    at = descend(parent, step, walked.join('.'));
    walked.push(step);
  }
  const isField = kind !== undefined && rest.length > 0;
  return {
    path: steps.join('.'),
    description: textOf(at, 'description'),
    type: typeOf(at),
    ...('default' in at && { default: at['default'] }),
    required,
    update: isField ? updateRule(kind.kind, rest[0] ?? '') : null,
    members: Object.entries(propertiesOf(objectOf(at))).map(([name, schema]) => ({
      name,
      description: isRecord(schema) ? textOf(schema, 'description') : null,
    })),
  };
}

function descend(schema: Schema, step: string, path: string): Schema {
  const properties = propertiesOf(schema);
  const found = properties[step];
  if (isRecord(found)) return found;
  const known = Object.keys(properties);
  const where = path === '' ? 'gateway.yaml' : path;
  throw new UnknownKeyError(`${where} has no key ${step}`, suggest(step, known) ?? listed(known));
}

function listed(known: readonly string[]): string | undefined {
  return known.length === 0 ? undefined : `there are ${known.join(', ')}`;
}

/** The object that a list or an alternative is made of. */
function objectOf(schema: Schema): Schema {
  const { items, anyOf } = schema;
  if (isRecord(items)) return objectOf(items);
  const options = Array.isArray(anyOf) ? anyOf.filter(isRecord).map(objectOf) : [];
  return options.find((option) => isRecord(option['properties'])) ?? schema;
}

function propertiesOf(schema: Schema): Record<string, unknown> {
  const { properties } = schema;
  return isRecord(properties) ? properties : {};
}

function isRequired(schema: Schema, name: string): boolean {
  const { required } = schema;
  return Array.isArray(required) && required.includes(name);
}

function typeOf(schema: Schema): string {
  const { type, items, anyOf, enum: values, const: value } = schema;
  if (value !== undefined) return JSON.stringify(value);
  if (Array.isArray(values)) return `one of ${values.join(', ')}`;
  if (Array.isArray(anyOf)) {
    const options = anyOf.filter(isRecord).map((option) => wordFor(option));
    return [...new Set(options)].join(' or ');
  }
  if (type === 'array') return `list of ${isRecord(items) ? typeOf(items) : 'anything'}`;
  return wordFor(schema);
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  integer: 'whole number',
  object: 'mapping',
  null: 'null',
};

function wordFor(schema: Schema): string {
  const { type, pattern } = schema;
  if (type === 'string' && String(pattern).includes('secret:')) return 'secret reference';
  if (type === 'string' && String(pattern).includes('(env|file):')) return 'reference';
  if (type === 'array' || schema['anyOf'] || schema['enum'] || 'const' in schema)
    return typeOf(schema);
  return WORDS[String(type)] ?? (typeof type === 'string' ? type : 'anything');
}

/** Way in which a change of a field reaches the object. */
function updateRule(kind: string, field: string): string {
  const known = CONFIG_KINDS.find((one) => one.kind === kind);
  if (known === undefined) return 'changed in place';
  const { definition, secrets, isFixed, removedBy } = known;
  if (secrets.includes(field)) return 'write-only: written when missing, or by --write-secret';
  if (field === 'name') return 'renamed in place by an entry in moved';
  if (field === 'lifecycle') return 'kept in labels of the object';
  if (isFixed(field, {})) {
    return removedBy === 'delete'
      ? 'cannot be changed: a new object replaces the old one, with --allow-replace'
      : 'cannot be changed: declare a new object under another name';
  }
  return definition.patched?.includes(field)
    ? 'changed in place, member by member'
    : 'changed in place';
}

function textOf(schema: Schema, name: string): string | null {
  const text = schema[name];
  return typeof text === 'string' ? text : null;
}
