import { suggest } from '../../core/suggest.ts';
import {
  type ActualState,
  findActual,
  findDeclared,
  organizationId,
  type View,
} from '../actual/actual.ts';
import { known } from '../actual/changes.ts';
import {
  declaredOwner,
  type DesiredObject,
  type DesiredState,
  identityIn,
} from '../objects/desired.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import { NameRules } from '../../routing/name-rules.ts';
import { patternsOf } from '../read/check-aliases.ts';
import { objectKey, objectRefs } from '../objects/object-refs.ts';
import { obstaclesOf } from './obstacles.ts';
import type { Plan } from './plan.ts';
import { isRecord } from '../objects/record.ts';
import type { ObjectRef } from '../objects/references.ts';

/** Facts about a valid configuration that only the server has. */
export interface OnlineState {
  readonly desired: DesiredState;
  readonly actual: ActualState;
  readonly plan: Plan;
}

/**
 * Faults that an apply would meet: names that nothing has, neither declared nor on the server, names
 * and slugs that another object has, and changes that cannot be made. Reads nothing.
 */
export function checkOnline(state: OnlineState): Diagnostic[] {
  const { desired, plan } = state;
  const names = createNames(state);
  const isMissing = createMissing(state);
  return [
    ...repeatedObjects(desired),
    ...obstaclesOf(plan, desired).map(({ object, message, hint }) =>
      fault(object, { message, hint }),
    ),
    ...desired.objects.flatMap((object) => [
      ...missingReferences(object, isMissing),
      ...missingNames(object, names),
      ...takenSlug(object, state),
    ]),
  ];
}

/**
 * Faults of declarations that no write could make true: references to what neither the files nor the
 * server have, and one object under two spellings of its organization. Reads nothing.
 */
export function checkDangling(state: Omit<OnlineState, 'plan'>): Diagnostic[] {
  const names = createNames(state);
  const isMissing = createMissing(state);
  const kinds = new Set<KindName>(['provider', 'agent']);
  return [
    ...repeatedObjects(state.desired),
    ...state.desired.objects.flatMap((object) => [
      ...missingReferences(object, isMissing),
      ...missingNames(object, names, kinds),
    ]),
  ];
}

/** Objects that were declared before under the other spelling of their organization. */
export function repeatedObjects({ objects }: Pick<DesiredState, 'objects'>): Diagnostic[] {
  const seen = new Map<string, DesiredObject>();
  return objects.flatMap((object) => {
    const key = objectKey(object.kind, object.identity);
    const { place } = seen.get(key) ?? {};
    if (place === undefined) {
      seen.set(key, object);
      return [];
    }
    const first = `the first is at ${place.file}:${place.line}:${place.column}`;
    const hint = `${first}; one of them names the organization by its id; remove one`;
    return fault(object, { message: 'is declared twice', hint });
  });
}

/** An object that holds the slug that a new one wants. */
export interface TakenSlug {
  readonly object: DesiredObject;
  readonly slug: string;
  readonly holder: View;
}

/** Slugs that objects to be made cannot have, since another one holds them. */
export function takenSlugs({ desired, actual }: Omit<OnlineState, 'plan'>): TakenSlug[] {
  return desired.objects.flatMap((object) => slugHolder(object, { desired, actual }));
}

const DECLARE = 'declare it, or create it first';

type IsMissing = (ref: ObjectRef, object: DesiredObject) => boolean;

/** True when neither the files nor the server have the target of a reference. */
function createMissing({ desired, actual }: Omit<OnlineState, 'plan'>): IsMissing {
  const declared = new Set(desired.objects.map(({ kind, identity }) => objectKey(kind, identity)));
  return (ref, object) => {
    const kind = ref.kind as KindName;
    const identity = identityIn(object.body['organization'], kind, ref.name);
    return (
      !declared.has(objectKey(kind, identity)) && known(ref, actual, object) === ref.toString()
    );
  };
}

function missingReferences(object: DesiredObject, isMissing: IsMissing): Diagnostic[] {
  const refs = objectRefs(object.body).filter((ref) => isMissing(ref, object));
  // Version and id of an Agent may both be asked for; one name is missing once.
  const first = (one: ObjectRef): ObjectRef | undefined =>
    refs.find(({ kind, name }) => kind === one.kind && name === one.name);
  return refs
    .filter((ref) => first(ref) === ref)
    .map((ref) => {
      const owner = declaredOwner(object.body['organization']);
      const where = kindOf(ref.kind as KindName).isOwned ? ` in organization ${owner}` : '';
      return fault(object, {
        message: `${ref.toString()}: no ${ref.kind} is named ${ref.name}${where}`,
        hint: DECLARE,
      });
    });
}

/** Plain names and ids in fields that name another object. */
function missingNames(
  object: DesiredObject,
  namesFor: NamesFor,
  kinds?: ReadonlySet<KindName>,
): Diagnostic[] {
  const named = namesIn(object).filter(({ kind }) => kinds?.has(kind) ?? true);
  return named.flatMap(({ path, kind, name }) => {
    const names = namesFor(kind, object);
    if (names.has(name) || (kind === 'model' && namesFor.leadsToModel(name))) return [];
    return fault(object, {
      path,
      message: `no ${kind} is named ${name}`,
      hint: suggest(name, alike(name, { kind, names })) ?? DECLARE,
    });
  });
}

/** Keeps names for a name and ids for an id. */
function alike(
  name: string,
  { kind, names }: { kind: KindName; names: ReadonlySet<string> },
): string[] {
  const isId = (one: string) => one.startsWith(`${kindOf(kind).definition.idPrefix}_`);
  return [...names].filter((one) => isId(one) === isId(name));
}

interface NamedObject {
  path: string;
  kind: KindName;
  name: string;
}

function namesIn({ kind, body }: DesiredObject): NamedObject[] {
  if (kind === 'model') {
    const routes = Array.isArray(body['routes']) ? body['routes'].filter(isRecord) : [];
    return routes.flatMap(({ provider }, index) =>
      typeof provider === 'string'
        ? { path: `routes[${index}].provider`, kind: 'provider', name: provider }
        : [],
    );
  }
  const { runtime, agent_id: agentId } = body;
  const models = [
    { path: 'model', model: kind === 'agent' ? body['model'] : undefined },
    { path: 'runtime.model', model: isRecord(runtime) ? runtime['model'] : undefined },
  ];
  const named = models.flatMap(({ path, model }): NamedObject[] => {
    const name = isRecord(model) ? model['id'] : model;
    return typeof name === 'string' ? [{ path, kind: 'model', name }] : [];
  });
  return typeof agentId === 'string'
    ? [...named, { path: 'agent_id', kind: 'agent', name: agentId }]
    : named;
}

/** Names and ids that an object may name: those that there are, or will be. */
interface NamesFor {
  (kind: KindName, object: DesiredObject): ReadonlySet<string>;
  /** True for an undeclared name that an alias or a provider makes a model. */
  leadsToModel(name: string): boolean;
}

/** Lists the names of a kind once for each owner. */
function createNames(state: Omit<OnlineState, 'plan'>): NamesFor {
  const known = new Map<string, ReadonlySet<string>>();
  const namesFor = (kind: KindName, { body }: Pick<DesiredObject, 'body'>): ReadonlySet<string> => {
    const owner = declaredOwner(body['organization']);
    const key = objectKey(kind, owner);
    const names = known.get(key) ?? namesOf(kind, owner, state);
    known.set(key, names);
    return names;
  };
  const rules = createRules(state);
  const isDeclared = (name: string): boolean => namesFor('model', { body: {} }).has(name);
  const leadsToModel = (name: string): boolean =>
    (rules().stepsTo(name, isDeclared).at(-1)?.rule ?? 'alias') !== 'alias';
  return Object.assign(namesFor, { leadsToModel });
}

/** Makes the rules of names at their first use, from declared and other existing objects. */
function createRules({ desired, actual }: Omit<OnlineState, 'plan'>): () => NameRules {
  let rules: NameRules | undefined;
  const bodiesOf = (kind: 'alias' | 'provider'): Readonly<Record<string, unknown>>[] => [
    ...actual[kind],
    ...desired.objects.filter((one) => one.kind === kind).map(({ body }) => body),
  ];
  return () =>
    (rules ??= new NameRules(
      bodiesOf('alias').map(({ name, model }) => ({ name: String(name), model: String(model) })),
      bodiesOf('provider').map(({ name, models }) => ({
        name: String(name),
        patterns: patternsOf(models),
      })),
    ));
}

function namesOf(
  kind: KindName,
  owner: string,
  { desired, actual }: Omit<OnlineState, 'plan'>,
): ReadonlySet<string> {
  const id = organizationId(owner, actual);
  const there = actual[kind].filter(
    ({ organization }) => typeof organization !== 'string' || organization === id,
  );
  return new Set([
    ...desired.objects
      .filter((one) => one.kind === kind && one.identity === identityIn(owner, kind, one.name))
      .map(({ name }) => name),
    ...there.flatMap(({ id, name }) => [id, String(name)]),
  ]);
}

function takenSlug(object: DesiredObject, state: OnlineState): Diagnostic[] {
  return slugHolder(object, state).map(({ slug, holder }) =>
    fault(object, { path: 'slug', message: `${slug} is the slug of ${holder.id}` }),
  );
}

function slugHolder(object: DesiredObject, state: Omit<OnlineState, 'plan'>): TakenSlug[] {
  const { slug } = object.body;
  if (typeof slug !== 'string') return [];
  const holder = holderOf(object, state);
  return holder === undefined || isFreed(object, holder, state) ? [] : [{ object, slug, holder }];
}

/** Another object that has the slug so far which this one is to have. */
function holderOf(object: DesiredObject, state: Omit<OnlineState, 'plan'>): View | undefined {
  const { slug, organization } = object.body;
  const { actual } = state;
  const own = new Set(viewsOf(object, state).map(({ id }) => id));
  const owner = organizationId(organization, actual);
  return actual[object.kind].find(
    (view) => view['slug'] === slug && view['organization'] === owner && !own.has(view.id),
  );
}

/** Views that a declaration means, by the name that they have or had. */
function viewsOf(object: DesiredObject, { desired, actual }: Omit<OnlineState, 'plan'>): View[] {
  const { kind, identity } = object;
  const former = desired.moved.find((one) => one.kind === kind && one.to === identity)?.from;
  const moved = former === undefined ? [] : findActual(kind, former, actual);
  return [...findDeclared(object, actual), ...moved];
}

/** True where the files give the holder of a slug another one, for which nothing waits in a circle. */
function isFreed(object: DesiredObject, first: View, state: Omit<OnlineState, 'plan'>): boolean {
  const waiting = new Set([object]);
  let holder: View | undefined = first;
  while (holder !== undefined) {
    const { id, slug } = holder;
    const next = state.desired.objects.find(
      (one) => one.kind === object.kind && viewsOf(one, state).some((view) => view.id === id),
    );
    const given = next?.body['slug'];
    if (next === undefined || typeof given !== 'string' || given === slug || waiting.has(next))
      return false;
    waiting.add(next);
    holder = holderOf(next, state);
  }
  return true;
}

function fault(
  { kind, identity, place }: DesiredObject,
  { path, message, hint }: { path?: string; message: string; hint?: string | undefined },
): Diagnostic {
  return {
    ...place,
    path: `${kind} ${identity}${path === undefined ? '' : `: ${path}`}`,
    severity: 'error',
    message,
    ...(hint !== undefined && { hint }),
  };
}
