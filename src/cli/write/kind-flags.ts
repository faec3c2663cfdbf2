import { kindOf, type KindName } from '../../config/objects/kinds.ts';
import { isSecretPath } from '../../resources/fields/secret-path.ts';
import type { ShortFlag } from '../../resources/store/define-resource.ts';
import type { FlagSpec } from '../command.ts';
import { ORGANIZATION } from '../tables/shared-words.ts';
import { formsOf, isScalar, membersOf, schemaOfKind, type Form } from './member-schema.ts';

export type WriteVerb = 'create' | 'update';

/** A flag, and the member that it gives. */
export interface FieldFlag {
  readonly spec: FlagSpec;
  readonly path: readonly string[];
  /** Form of the text: one value, items of a list, `KEY=VALUE`, the name of a secret. */
  readonly holds: 'value' | 'items' | 'pairs' | 'secret';
  /** Absent for flags that follow from the schema. */
  readonly short?: ShortFlag;
}

/** Members that commands have words of their own for, or that belong only to files. */
const LEFT_OUT: ReadonlySet<string> = new Set(['labels']);

/** Flags of `KIND create` and `KIND update`, from the schema of the kind and its own short ones. */
export function flagsOfKind(kind: KindName, verb: WriteVerb): FieldFlag[] {
  const { definition } = kindOf(kind);
  const own = Object.entries(definition.flags ?? {}).map(([name, short]) => toShort(name, short));
  const taken = new Set(own.map(({ spec }) => spec.name));
  const fields = Object.entries(membersOf(schemaOfKind(kind)))
    .filter(([name]) => !LEFT_OUT.has(name))
    .filter(([name]) => verb === 'create' || !definition.immutable.includes(name))
    .flatMap(([name, schema]) => leafFlags([name], schema, definition.secrets));
  const others = fields.filter(({ spec }) => !taken.has(spec.name));
  return [...own, ...others].map((flag) =>
    flag.spec.name === ORGANIZATION.name ? { ...flag, spec: ORGANIZATION } : flag,
  );
}

function toShort(name: string, short: ShortFlag): FieldFlag {
  const { path, value, description, repeatable = false } = short;
  return {
    spec: { name, type: 'string', value, description, ...(repeatable && { repeatable }) },
    path: path.split('.'),
    holds: repeatable ? 'items' : 'value',
    short,
  };
}

/** A flag for the member, and for the members of an object that it may be. */
function leafFlags(
  path: readonly string[],
  schema: unknown,
  secrets: readonly string[],
): FieldFlag[] {
  const forms = formsOf(schema).filter((form) => !('const' in form));
  const objects = forms.filter((form) => Object.keys(membersOf(form)).length > 0);
  const [object] = objects;
  const isOpened = object !== undefined && objects.length === 1;
  const others = isOpened ? forms.filter((form) => form !== object) : forms;
  const below = isOpened
    ? Object.entries(membersOf(object)).flatMap(([name, member]) =>
        leafFlags([...path, name], member, secrets),
      )
    : [];
  if (others.length === 0) return below;
  const isSecret = isSecretPath(secrets, path);
  return [toFlag(path, { forms: others, description: textOf(schema), isSecret }), ...below];
}

interface Leaf {
  forms: readonly Form[];
  description: string | undefined;
  isSecret: boolean;
}

function toFlag(path: readonly string[], { forms, description, isSecret }: Leaf): FieldFlag {
  const holds = isSecret ? 'secret' : holding(forms);
  const items = holds === 'items' ? forms.flatMap((form) => formsOf(form['items'])) : forms;
  const offers = choicesOf(items);
  const isRepeatable = holds === 'items' || holds === 'pairs';
  return {
    path,
    holds,
    spec: {
      name: path.map((step) => step.replaceAll('_', '-')).join('.'),
      type: 'string',
      value: placeholder(holds, items),
      ...(isRepeatable && { repeatable: true }),
      ...(offers.length > 0 && { offers }),
      description: description ?? `Member ${path.join('.')}`,
    },
  };
}

function holding(forms: readonly Form[]): 'value' | 'items' | 'pairs' {
  if (forms.some(isScalar)) return 'value';
  const areScalars = (schema: unknown) => {
    const found = formsOf(schema);
    return found.length > 0 && found.every(isScalar);
  };
  if (forms.every(({ items }) => areScalars(items))) return 'items';
  return forms.every((form) => areScalars(form['additionalProperties'])) ? 'pairs' : 'value';
}

function choicesOf(forms: readonly Form[]): string[] {
  const all = forms.flatMap((form): unknown[] => {
    if (form['type'] === 'boolean') return [true, false];
    return Array.isArray(form['enum']) ? (form['enum'] as unknown[]) : [];
  });
  const isClosed = forms.every((form) => form['type'] === 'boolean' || 'enum' in form);
  return isClosed ? [...new Set(all.map(String))] : [];
}

function placeholder(holds: FieldFlag['holds'], forms: readonly Form[]): string {
  if (holds === 'secret') return 'env:NAME';
  if (holds === 'pairs') return 'KEY=VALUE';
  const types = new Set(forms.map(({ type }) => type));
  if (types.has('string')) return 'TEXT';
  if (types.has('boolean')) return 'BOOLEAN';
  return types.has('number') || types.has('integer') ? 'N' : 'YAML';
}

/** Returns the description of a member in the schema, in the form of help. */
function textOf(schema: unknown): string | undefined {
  const { description } = schema as { description?: unknown };
  return typeof description === 'string' ? description.replace(/\.$/, '') : undefined;
}
