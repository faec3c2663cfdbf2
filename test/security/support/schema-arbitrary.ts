import * as fc from 'fast-check';
import type { Document } from '../../e2e/api/openapi-checker.ts';
import type { Named } from './sample-calls.ts';

type Schema = Readonly<Record<string, any>>;

const DEEPEST = 5;

/** What members of these names are when they are right, so that more is tried than the first check. */
function knownMembers(named: Named): Readonly<Record<string, readonly unknown[]>> {
  const text = { type: 'text', text: 'hello' };
  const message = { type: 'user.message', content: [text] };
  return {
    model: ['acme/text', 'acme/vectors', 'acme/pictures', 'acme/film', { id: 'acme/text' }],
    agent_id: [named.agent],
    agent: [named.agent, { type: 'agent', id: named.agent }],
    skill_id: [named.skill],
    file_id: [named.file],
    session_id: [named.session, null],
    initial_events: [[message]],
    events: [[message], [{ type: 'user.interrupt' }]],
    messages: [[{ role: 'user', content: 'hello' }]],
    contents: [[{ parts: [{ text: 'hello' }] }]],
    input: ['hello', { messages: [{ role: 'user', content: 'hello' }] }],
    schedule: [{ type: 'cron', expression: '0 7 1 1 *', timezone: 'UTC' }, null],
    webhook_url: [`${named.outside}/hook`],
    url: [`${named.outside}/photo.png`],
    method: ['initialize', 'tools/list', 'tools/call', 'session/new', 'session/prompt'],
  };
}

/** Values that a schema of the document admits; of members with known names mostly useful ones. */
export function createSchemaArbitrary(
  { components }: Document,
  named: Named,
): (schema: Schema) => fc.Arbitrary<unknown> {
  const known = knownMembers(named);

  function of(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
    if (typeof schema['$ref'] === 'string') {
      const found = components.schemas[schema['$ref'].split('/').at(-1) ?? ''];
      return of(found ?? {}, depth);
    }
    if ('const' in schema) return fc.constant(schema['const']);
    if (schema['enum']) return fc.constantFrom(...(schema['enum'] as unknown[]));
    const choices = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
    if (choices) return fc.oneof(...choices.map((one) => of(one, depth + 1)));
    const { type } = schema;
    if (Array.isArray(type)) return fc.oneof(...type.map((one) => ofType(one, schema, depth)));
    return ofType(type, schema, depth);
  }

  function ofType(type: unknown, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (type === 'object') return ofObject(schema, depth);
    if (type === 'array') {
      const least = Number(schema['minItems'] ?? 0);
      const maxLength = depth > DEEPEST ? least : least + 2;
      return fc.array(of(schema['items'] ?? {}, depth + 1), { minLength: least, maxLength });
    }
    if (type === 'string') return ofString(schema);
    if (type === 'integer') return fc.integer(boundsOf(schema));
    if (type === 'number') return fc.double({ ...boundsOf(schema), noNaN: true });
    if (type === 'boolean') return fc.boolean();
    return type === 'null' ? fc.constant(null) : fc.jsonValue({ maxDepth: 2 });
  }

  function ofObject(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
    const required = (schema['required'] ?? []) as string[];
    const members = Object.entries(properties)
      .filter(([name]) => depth <= DEEPEST || required.includes(name))
      .map(([name, one]) => {
        const useful = known[name];
        const any = of(one, depth + 1);
        const value = useful
          ? fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...useful) }, any)
          : any;
        return [name, value] as const;
      });
    const record = fc.record(Object.fromEntries(members), { requiredKeys: required });
    if (members.length > 0) return record;
    return fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), fc.string(), { maxKeys: 3 });
  }

  return of;
}

function ofString({
  pattern,
  format,
  minLength = 0,
  maxLength = 30,
}: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((at) => at.toISOString());
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 30) });
}

function boundsOf({ minimum, maximum }: Schema): { min?: number; max?: number } {
  const bound = (value: unknown, least: number): number => Math.max(least, Number(value ?? least));
  return {
    min: bound(minimum, -1_000_000),
    max: Math.min(1_000_000, Number(maximum ?? 1_000_000)),
  };
}
