import { z } from 'zod';
import { CONFIG_KINDS, SECTION_WORDS } from '../objects/kinds.ts';
import { isRecord } from '../objects/record.ts';
import { SECRET_SOURCES } from '../objects/references.ts';
import { fileSchema } from './schema.ts';

const REFERENCE = { type: 'string', pattern: '\\$\\{(env|file):' };
const SOURCES = Object.keys(SECRET_SOURCES).join('|');
const SECRET = { type: 'string', pattern: `^\\$\\{secret:(${SOURCES}):[^}]+\\}$` };

/**
 * The JSON Schema (draft 2020-12) of the whole file, from the schema that validation itself uses.
 * Numbers and booleans also take a reference; secret fields take nothing but one.
 */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(fileSchema(), {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'object') jsonSchema.additionalProperties ??= false;
    },
  });
  const root = withReferences(schema) as Record<string, unknown>;
  for (const { collection, secrets } of CONFIG_KINDS) {
    const properties = at(root, ['properties', collection, 'items', 'properties']);
    for (const name of secrets) if (properties !== undefined) asSecret(properties, name);
  }
  const settings = at(root, ['properties', 'server', 'properties', 'secrets', 'properties']);
  if (settings !== undefined) {
    asSecret(settings, 'master_key');
    Object.assign(at(settings, ['previous_keys']) ?? {}, { items: SECRET });
  }
  const properties = at(root, ['properties']) ?? {};
  for (const [word, name] of Object.entries(SECTION_WORDS))
    properties[word] = { description: `Another word for ${name}.`, $ref: `#/properties/${name}` };
  const patternProperties = { '^x-': { description: 'Anything, as a place for anchors.' } };
  return { ...root, patternProperties, title: 'gateway.yaml' };
}

function withReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((member) => withReferences(member));
  if (!isRecord(schema)) return schema;
  const walked = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [
      name,
      // Values of these keywords are data, not schemas.
      ['default', 'enum', 'const', 'required', 'examples'].includes(name)
        ? member
        : withReferences(member),
    ]),
  );
  if (!['number', 'integer', 'boolean'].includes(String(schema['type']))) return walked;
  const { description, default: standard, ...rest } = walked;
  return {
    ...(description !== undefined && { description }),
    ...(standard !== undefined && { default: standard }),
    anyOf: [rest, REFERENCE],
  };
}

/** Null stays possible where it removes the secret. */
function asSecret(properties: Record<string, unknown>, name: string): void {
  const former = properties[name];
  const { description } = isRecord(former) ? former : {};
  const isNullable = JSON.stringify(former)?.includes('"null"') ?? false;
  const schema = isNullable ? { anyOf: [SECRET, { type: 'null' }] } : SECRET;
  properties[name] = { ...(description !== undefined && { description }), ...schema };
}

function at(schema: unknown, path: readonly string[]): Record<string, unknown> | undefined {
  let current = schema;
  for (const step of path) current = isRecord(current) ? current[step] : undefined;
  return isRecord(current) ? current : undefined;
}
