import { type DesiredObject, type DesiredState, fallbacksOf, identityIn } from './desired.ts';
import { CONFIG_KINDS, kindOf, type KindName } from './kinds.ts';
import { isRecord } from './record.ts';
import { ObjectRef } from './references.ts';

/** Every reference below a value. */
export function objectRefs(value: unknown): ObjectRef[] {
  if (value instanceof ObjectRef) return [value];
  if (Array.isArray(value)) return value.flatMap((member) => objectRefs(member));
  return isRecord(value) ? Object.values(value).flatMap((member) => objectRefs(member)) : [];
}

/** Kinds that a desired state may touch or refer to: the platform's own, managed and named ones. */
export function kindsToRead({
  managed,
  objects,
}: Pick<DesiredState, 'managed' | 'objects'>): ReadonlySet<KindName> {
  const named = new Set(objects.flatMap(({ body }) => objectRefs(body).map((ref) => ref.kind)));
  const read = CONFIG_KINDS.filter(
    ({ kind, definition }) => managed.has(kind) || named.has(kind) || definition.api === undefined,
  );
  return new Set(read.map(({ kind }) => kind));
}

export function objectKey(kind: KindName, identity: string): string {
  return `${kind} ${identity}`;
}

/** The {@link objectKey}s of the objects that must be as declared before this one is written. */
export function dependenciesOf({ kind, body }: Pick<DesiredObject, 'kind' | 'body'>): string[] {
  const { organization } = body;
  const references = objectRefs(body).map((ref) => {
    const target = ref.kind as KindName;
    return objectKey(target, identityIn(organization, target, ref.name));
  });
  if (kindOf(kind).isOwned && typeof organization === 'string') {
    const keys = kind === 'budget' ? keysOfBudget(body, organization) : [];
    return [...references, ...keys, objectKey('organization', organization)];
  }
  if (kind !== 'model') return references;
  const routes = Array.isArray(body['routes']) ? body['routes'].filter(isRecord) : [];
  const providers = routes.map((route) => objectKey('provider', String(route['provider'])));
  const fallbacks = fallbacksOf(body).map((name) => objectKey('model', name));
  return [...references, ...providers, ...fallbacks];
}

/** Keys that a budget names as they are called, not by a reference. */
function keysOfBudget({ match }: DesiredObject['body'], organization: string): string[] {
  const named = isRecord(match) && Array.isArray(match['keys']) ? match['keys'] : [];
  return named
    .filter((name) => typeof name === 'string')
    .map((name) => objectKey('key', identityIn(organization, 'key', name)));
}
