import { z } from 'zod';
import { isRecord } from '../../client/http/guards.ts';
import { kindOf, type KindName } from '../../config/objects/kinds.ts';

/** One form that a value may have: a JSON Schema of one type; without a type it takes anything. */
export type Form = Readonly<Record<string, unknown>>;

export type MemberPath = readonly (string | number)[];

/** JSON Schema of what people write of an object of this kind. */
export function schemaOfKind(kind: KindName): Form {
  return z.toJSONSchema(kindOf(kind).definition.fields, { io: 'input', unrepresentable: 'any' });
}

/** Forms of a value, without the unions around them and without null. */
export function formsOf(schema: unknown): Form[] {
  if (!isRecord(schema)) return [];
  const { anyOf, oneOf, type } = schema;
  const branches = [anyOf, oneOf].find((one) => Array.isArray(one));
  if (branches !== undefined) return branches.flatMap((branch) => formsOf(branch));
  if (Array.isArray(type)) return type.flatMap((one) => formsOf({ ...schema, type: one }));
  return type === 'null' ? [] : [schema];
}

/** Members that an object of this form names. */
export function membersOf({ properties }: Form): Readonly<Record<string, unknown>> {
  return isRecord(properties) ? properties : {};
}

export function isScalar({ type }: Form): boolean {
  return ['string', 'number', 'integer', 'boolean'].includes(String(type));
}

/** Forms of the member at a path; none where the schema knows no such member. */
export function formsAt(schema: Form, path: MemberPath): Form[] {
  let forms = formsOf(schema);
  for (const step of path) {
    forms = forms.flatMap((form) => {
      if (form['type'] === undefined) return [form];
      if (typeof step === 'number') return formsOf(form['items']);
      return formsOf(membersOf(form)[step] ?? form['additionalProperties']);
    });
  }
  return forms;
}

/** Members of an object at this path that can have one value only and must be there. */
export function constantsAt(schema: Form, path: MemberPath): Record<string, unknown> {
  const objects = formsAt(schema, path).filter(({ type }) => type === 'object');
  const [only] = objects;
  if (only === undefined || objects.length > 1) return {};
  const required = Array.isArray(only['required']) ? (only['required'] as unknown[]) : [];
  return Object.fromEntries(
    Object.entries(membersOf(only)).flatMap(([name, member]) => {
      const [form, ...others] = formsOf(member);
      const isFixed = form !== undefined && 'const' in form && others.length === 0;
      return isFixed && required.includes(name) ? [[name, form['const']]] : [];
    }),
  );
}
