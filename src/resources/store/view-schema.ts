import { z } from 'zod';
import { factsOf } from '../../core/kinds.ts';
import type { ResourceDefinition } from './define-resource.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

export type ObjectSchema = Readonly<{
  type: 'object';
  properties: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
}>;

const INSTANT = { type: 'string', format: 'date-time' };

/**
 * JSON Schema (2020-12) of the members that every view of a kind has, without the hidden ones. A field
 * that may be without a value is null then.
 */
export function viewSchema(
  definition: ResourceDefinition,
  { hidden = [] }: { hidden?: readonly string[] } = {},
): ObjectSchema {
  const { kind, shown, archivable, organizationScoped } = definition;
  const members: Record<string, JsonSchema> = {
    id: { type: 'string' },
    type: { const: kind },
    ...fieldsOf(definition),
    ...(archivable && { archived_at: orNull({ type: 'string' }) }),
    ...(shown && fieldSchema(shown, 'output').properties),
    ...(organizationScoped && { organization: { type: 'string' } }),
    name: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    version: { type: 'integer', minimum: 0 },
    created_at: INSTANT,
    updated_at: INSTANT,
  };
  const properties = Object.fromEntries(
    Object.entries(members).filter(([member]) => !hidden.includes(member)),
  );
  return { type: 'object', required: Object.keys(properties), properties };
}

/** JSON Schema of fields as create takes them, or as they are kept; unknown members pass. */
export function fieldSchema(fields: z.ZodObject, io: 'input' | 'output'): ObjectSchema {
  return z.toJSONSchema(fields, {
    io,
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ jsonSchema }) => {
      // Clients send, and read, members that this version does not know.
      delete jsonSchema.additionalProperties;
      const { oneOf } = jsonSchema;
      if (io === 'input' || !oneOf) return;
      // Views of inputs have no schema of their own: several may fit the value.
      delete jsonSchema.oneOf;
      jsonSchema.anyOf = oneOf;
    },
  }) as unknown as ObjectSchema;
}

/** Fields as views show them, by the names that views use. */
function fieldsOf({ fields, secrets, aliases, collection }: ResourceDefinition): Members {
  const { switch: onOff } = factsOf(collection);
  const shownAs = new Map(Object.entries(aliases).map(([alias, field]) => [field, alias]));
  const { properties } = fieldSchema(fields, 'output');
  const needed = new Set(fieldSchema(fields, 'input').required);
  const shown = Object.entries(properties)
    .filter(([field]) => !secrets.includes(field))
    .map(
      ([field, schema]) => [field, withoutMembers(schema, membersBelow(secrets, field))] as const,
    );
  return Object.fromEntries(
    shown.map(([field, { default: _made, ...schema }]) => {
      const isAlwaysThere = needed.has(field) || field === onOff;
      const isAnything = Object.keys(schema).length === 0;
      const name = shownAs.get(field) ?? field;
      return [name, isAlwaysThere || isAnything ? schema : orNull(schema)];
    }),
  );
}

/** Names of the write-only members of a field. */
function membersBelow(secrets: readonly string[], field: string): string[] {
  return secrets.filter((path) => path.startsWith(`${field}.`)).map((path) => path.split('.')[1]!);
}

/** Schema of an object, or of one that may be null, without some of its members. */
function withoutMembers(schema: JsonSchema, names: readonly string[]): JsonSchema {
  if (names.length === 0) return schema;
  const { properties, required, anyOf } = schema as {
    properties?: Members;
    required?: readonly string[];
    anyOf?: readonly JsonSchema[];
  };
  return {
    ...schema,
    ...(anyOf && { anyOf: anyOf.map((one) => withoutMembers(one, names)) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).filter(([name]) => !names.includes(name)),
      ),
    }),
    ...(required && { required: required.filter((name) => !names.includes(name)) }),
  };
}

type Members = Readonly<Record<string, JsonSchema>>;

const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });
