import { createHash } from 'node:crypto';
import type { Place } from '../source/diagnostic.ts';
import { CONFIG_KINDS, DEFAULT_ORGANIZATION, kindOf, type KindName } from './kinds.ts';
import type { Path } from '../source/locate.ts';
import { canonicalJson, isRecord } from './record.ts';
import { ObjectRef } from './references.ts';

type Body = Readonly<Record<string, unknown>>;

/** Namespace of files that name none. */
export const DEFAULT_NAMESPACE = 'default';

const FOLLOWERS: readonly KindName[] = ['service', 'deployment'];

/** Makes an object that refers to an Agent without a version run the newest one. */
function followAgent(kind: KindName, body: Body): Body {
  const { agent_id: agent, agent_version: version } = body;
  const isFree = version === undefined || version === null;
  if (!FOLLOWERS.includes(kind) || !isFree || !(agent instanceof ObjectRef)) return body;
  if (agent.kind !== 'agent' || agent.field !== 'id') return body;
  return { ...body, agent_version: new ObjectRef('agent', agent.name, 'version') };
}

/** Treatment of the object by plans, now and when it disappears from the configuration. */
export interface Lifecycle {
  readonly protected?: boolean;
  readonly prune?: 'delete' | 'disable';
  /** Paths of members that keep the value that the server has. */
  readonly ignore_changes?: readonly string[];
}

/** One declared object: exactly the fields that were written, references unresolved. */
export interface DesiredObject {
  readonly kind: KindName;
  /** Unique within its kind; `organization/name` for objects of an organization. */
  readonly identity: string;
  readonly name: string;
  /** The one object that is meant, whatever it is called. */
  readonly id?: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly lifecycle: Lifecycle;
  readonly place: Place;
}

export interface DesiredState {
  readonly namespace: string;
  /** The collections that are present; an absent one is unmanaged. */
  readonly managed: ReadonlySet<KindName>;
  /** Declared objects in reference order: what an object refers to comes before it. */
  readonly objects: readonly DesiredObject[];
  /** Objects that are renamed in place. */
  readonly moved: readonly Move[];
  /** Present where `objects` are only a part of what the files declare. */
  readonly selection?: Selection;
}

/** Selection that limits a command. */
export interface Selection {
  matches(object: Pick<DesiredObject, 'kind' | 'identity' | 'name' | 'labels'>): boolean;
  /** Declared objects that are not selected. */
  readonly leftOut: readonly DesiredObject[];
  /** Patterns that no declared object matches. */
  readonly unused: readonly string[];
}

/** Identities of one object before and after. */
export interface Move {
  readonly kind: KindName;
  readonly from: string;
  readonly to: string;
}

/** Reads the desired state out of a checked configuration tree. */
export function toDesired(
  tree: Record<string, unknown>,
  locate: (path: Path) => Place,
): DesiredState {
  const managed = new Set<KindName>();
  const objects: DesiredObject[] = [];
  for (const { kind, collection } of CONFIG_KINDS) {
    const declared = tree[collection];
    if (!Array.isArray(declared)) continue;
    managed.add(kind);
    const ofKind = declared
      .filter(isRecord)
      .map((entry, index) => toObject(kind, entry, locate([collection, index])));
    objects.push(...(kind === 'model' ? byFallbacks(ofKind) : ofKind.sort(byIdentity)));
  }
  const namespace = typeof tree['namespace'] === 'string' ? tree['namespace'] : DEFAULT_NAMESPACE;
  return { namespace, managed, objects, moved: toMoves(tree['moved']) };
}

function toMoves(declared: unknown): Move[] {
  if (!Array.isArray(declared)) return [];
  return declared.filter(isRecord).map((entry) => {
    const kind = entry['kind'] as KindName;
    const identity = (name: unknown): string =>
      identityIn(entry['organization'], kind, String(name).trim());
    return { kind, from: identity(entry['from']), to: identity(entry['to']) };
  });
}

function toObject(kind: KindName, entry: Record<string, unknown>, place: Place): DesiredObject {
  const { labels, lifecycle, id, ...declared } = entry;
  const body = followAgent(kind, declared);
  const name = String(entry['name']).trim();
  const { isOwned } = kindOf(kind);
  return {
    kind,
    name,
    ...(typeof id === 'string' && { id }),
    identity: identityIn(entry['organization'], kind, name),
    body: isOwned ? { organization: DEFAULT_ORGANIZATION, ...body, name } : { ...body, name },
    labels: (labels ?? {}) as Record<string, string>,
    lifecycle: lifecycle ?? {},
    place,
  };
}

/** Organization that a declaration names, by its name or an id. */
export function declaredOwner(organization: unknown): string {
  if (organization instanceof ObjectRef) return organization.name;
  return typeof organization === 'string' ? organization : DEFAULT_ORGANIZATION;
}

/** `organization/name`; names are unique within an organization. */
export function ownedIdentity(organization: unknown, name: string): string {
  return `${declaredOwner(organization)}/${name}`;
}

/** Identity of what a declaration in this organization calls by kind and name. */
export function identityIn(organization: unknown, kind: KindName, name: string): string {
  return kindOf(kind).isOwned ? ownedIdentity(organization, name) : name;
}

/** Digest of a declaration, with secrets as names; separates drift from a changed file. */
export function digestOf({ body, labels, lifecycle }: DesiredObject): string {
  const text = canonicalJson({
    body: JSON.parse(JSON.stringify(body)) as unknown,
    labels,
    lifecycle,
  });
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

interface Named {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Fallbacks first; of models that do not depend on each other the name decides. */
export function byFallbacks<T extends Named>(models: readonly T[]): T[] {
  const byName = new Map(models.toSorted(byNames).map((model) => [model.name, model]));
  const ordered = new Set<T>();
  const above = new Set<T>();
  const visit = (model: T) => {
    if (ordered.has(model) || above.has(model)) return;
    above.add(model);
    for (const name of fallbacksOf(model.body)) {
      const next = byName.get(name);
      if (next !== undefined) visit(next);
    }
    above.delete(model);
    ordered.add(model);
  };
  for (const model of byName.values()) visit(model);
  return [...ordered];
}

export function fallbacksOf(body: Readonly<Record<string, unknown>>): string[] {
  const { fallbacks } = body;
  return Array.isArray(fallbacks) ? fallbacks.filter((name) => typeof name === 'string') : [];
}

function byNames(a: Named, b: Named): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function byIdentity(a: DesiredObject, b: DesiredObject): number {
  return a.identity < b.identity ? -1 : a.identity > b.identity ? 1 : 0;
}
