import type { z } from 'zod';
import { type ActualState, organizationId, type View } from './actual.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { kindOf } from '../objects/kinds.ts';
import { fieldOf, secretAt, signalOf, withoutSecrets } from '../../resources/fields/secret-path.ts';
import { labelsOf } from './ownership.ts';
import { canonicalJson, isRecord } from '../objects/record.ts';
import { ObjectRef, SecretRef } from '../objects/references.ts';

/** Lists without order. */
const SET_FIELDS: ReadonlySet<string> = new Set([
  'allowed_domains',
  'allowed_models',
  'blocked_domains',
  'capabilities',
  'drop',
  'drop_betas',
  'keys',
  'models',
  'protocols',
  'refuse_betas',
  'scopes',
]);
/** Fields in which null is a value of its own. */
export const OPAQUE_FIELDS: ReadonlySet<string> = new Set([
  'memory_config',
  'mock',
  'resource_config',
  'schema',
  'vault_config',
]);

/** One leaf that an apply changes. */
export interface Change {
  /** `routes[0].weight`. */
  readonly path: string;
  /** The field that is sent whole. */
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
  /** The values are names and states, never the secret. */
  readonly secret?: true;
  /** The files declared it before and no longer do: it goes to its default, or goes. */
  readonly reset?: true;
}

export interface ChangesOptions {
  object: DesiredObject;
  /** Undefined: the object is to be created. */
  view: View | undefined;
  actual?: ActualState;
  /** `kind/identity#field` of secrets to write; `all` on creation. */
  secrets: 'all' | ReadonlySet<string>;
}

/**
 * The declared leaves that differ from the object. Both sides go through the resource's own schema
 * first (money, durations, trimmed texts, defaults of lists) and sets are compared without order, so
 * what the API made of a declaration is equal to it. Fields that are not declared are not looked at.
 */
export function changesOf(options: ChangesOptions): Change[] {
  const { object, view, actual } = options;
  const { secrets, isOwned } = kindOf(object.kind);
  const changes: Change[] = [];
  const readable = withoutSecrets(object.body, secrets);
  for (const field of Object.keys(object.body)) {
    for (const path of secrets.filter((one) => fieldOf(one) === field))
      changes.push(...secretChange(path, secretAt(object.body, path), options));
    if (!(field in readable)) continue;
    const declared = readable[field];
    if (view === undefined) {
      if (declared !== undefined)
        changes.push(...leafChanges({ field, path: field, old: null, next: shown(declared) }));
    } else if (!(isOwned && field === 'organization')) {
      const shownNow = view[viewField(object.kind, field)];
      const wanted = known(declared, actual, object);
      // Equal values have equal comparable forms; finding these costs more than all the rest.
      if (canonicalJson(wanted) === canonicalJson(shownNow)) continue;
      const next = comparableField(object, field, { value: wanted, view: shownNow });
      const old = comparableField(object, field, { value: shownNow, view: shownNow });
      changes.push(...leafChanges({ field, path: field, old, next }));
    }
  }
  const labels = view === undefined ? {} : labelsOf(view);
  for (const [name, value] of Object.entries(object.labels)) {
    if (labels[name] === value) continue;
    const path = `labels[${JSON.stringify(name)}]`;
    changes.push({ path, field: 'labels', old: labels[name] ?? null, new: value });
  }
  return changes;
}

/** Secrets cannot be read back: by itself, only their presence shows a difference. */
function secretChange(path: string, value: unknown, options: ChangesOptions): Change[] {
  const { object, view, secrets } = options;
  if (value === undefined) return [];
  const declared = secretOf(value);
  const change = (old: string | null): Change[] => [
    {
      path,
      field: fieldOf(path),
      old,
      new: declared instanceof SecretRef ? declared.toString() : null,
      secret: true,
    },
  ];
  if (view === undefined) return declared === null ? [] : change(null);
  const signal = view[signalOf(path)];
  // A key's value is imported once; a view without the signal says nothing to compare.
  if (typeof signal !== 'boolean') return [];
  if (declared === null) return signal ? change('configured') : [];
  if (!signal) return change(null);
  const name = `${object.kind}/${object.identity}#${path}`;
  return secrets === 'all' || secrets.has(name) ? change('configured') : [];
}

/** A write-only value without the object that may be around it. */
export function secretOf(value: unknown): unknown {
  return isRecord(value) ? Object.values(value)[0] : value;
}

/** Resolves a reference of an object to the existing object that it means. */
export function known(
  value: unknown,
  actual: ActualState | undefined,
  object: DesiredObject,
): unknown {
  if (value instanceof ObjectRef) {
    const views = actual?.[value.kind as keyof ActualState] ?? [];
    const owner = actual && organizationId(object.body['organization'], actual);
    // Organizations do not refer to objects of others.
    const found = views.find(
      ({ name, organization }) =>
        name === value.name && (typeof organization !== 'string' || organization === owner),
    );
    return found?.[value.field] ?? value.toString();
  }
  if (Array.isArray(value)) return value.map((member) => known(member, actual, object));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, known(one, actual, object)]),
  );
}

/** Views call a field otherwise where its own name is taken. */
export function viewField(kind: DesiredObject['kind'], field: string): string {
  const aliases = Object.entries(kindOf(kind).definition.aliases);
  return aliases.find(([, name]) => name === field)?.[0] ?? field;
}

/** A value of a field in the one spelling in which two of them can be compared. */
export function comparableField(
  { kind, name }: Pick<DesiredObject, 'kind' | 'name'>,
  field: string,
  { value, view }: { value: unknown; view: unknown },
): unknown {
  const schema: z.ZodType | undefined = kindOf(kind).definition.fields.shape[field];
  const parsed = schema?.safeParse(value ?? null);
  const { comparable } = kindOf(kind).definition;
  const data = parsed?.success === true ? parsed.data : value;
  const read = parsed?.success === true ? (comparable?.[field]?.(data, view) ?? data) : data;
  if (OPAQUE_FIELDS.has(field)) return read ?? null;
  const filled = kind === 'model' && field === 'routes' ? withUpstreamNames(read, name) : read;
  return withoutNulls(SET_FIELDS.has(field) ? sorted(filled) : filled);
}

/** Completes names that a route leaves out from the logical name. */
function withUpstreamNames(routes: unknown, name: string): unknown {
  if (!Array.isArray(routes)) return routes;
  const standard = name.slice(name.indexOf('/') + 1);
  return routes.map((route) =>
    isRecord(route) ? { ...route, upstream_model: route['upstream_model'] ?? standard } : route,
  );
}

/** An absent member and null mean the same within a field. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => withoutNulls(member));
  if (!isRecord(value)) return value ?? null;
  const members = Object.entries(value)
    .filter(([, member]) => member !== null && member !== undefined)
    .map(([key, member]) => {
      return [key, withoutNulls(SET_FIELDS.has(key) ? sorted(member) : member)] as const;
    });
  return Object.fromEntries(members);
}

function sorted(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return [...new Set(value)].sort((a, b) => (String(a) < String(b) ? -1 : 1));
}

interface Sides {
  field: string;
  path: string;
  old: unknown;
  next: unknown;
}

function leafChanges({ field, path, old, next }: Sides): Change[] {
  if (canonicalJson(old) === canonicalJson(next)) return [];
  const isOpened = (one: unknown, other: unknown) =>
    isRecord(one) && (isRecord(other) || (isNothing(other) && Object.keys(one).length > 0));
  if (isOpened(old, next) || isOpened(next, old)) {
    const [before, after] = [isRecord(old) ? old : {}, isRecord(next) ? next : {}];
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) =>
      leafChanges({ field, path: `${path}.${name}`, old: before[name], next: after[name] }),
    );
  }
  if (Array.isArray(old) && Array.isArray(next) && [...old, ...next].some(isRecord)) {
    return memberChanges({ field, path }, old, next);
  }
  return [{ path, field, old: old ?? null, new: next ?? null }];
}

/** Changes of a list of objects without equal members at both ends, so that a gap moves nothing. */
function memberChanges(
  { field, path }: Pick<Sides, 'field' | 'path'>,
  old: readonly unknown[],
  next: readonly unknown[],
): Change[] {
  const isSame = (one: unknown, other: unknown) => canonicalJson(one) === canonicalJson(other);
  const most = Math.min(old.length, next.length);
  let ahead = 0;
  while (ahead < most && isSame(old[ahead], next[ahead])) ahead++;
  let behind = 0;
  while (behind < most - ahead && isSame(old.at(-1 - behind), next.at(-1 - behind))) behind++;
  const [before, after] = [old, next].map((list) => list.slice(ahead, list.length - behind));
  const count = Math.max(before?.length ?? 0, after?.length ?? 0);
  return Array.from({ length: count }, (_, index) =>
    leafChanges({
      field,
      path: `${path}[${ahead + index}]`,
      old: before?.[index],
      next: after?.[index],
    }),
  ).flat();
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

function shown(value: unknown): unknown {
  return value instanceof SecretRef || value instanceof ObjectRef
    ? value.toString()
    : (JSON.parse(JSON.stringify(value)) as unknown);
}
