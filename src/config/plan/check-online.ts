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
import { MODEL_USERS, namedObjects } from '../objects/named-objects.ts';
import { formatPath } from '../source/locate.ts';
import { createNameRules, isModelName } from './model-names.ts';
import { objectKey, objectRefs } from '../objects/object-refs.ts';
import { obstaclesOf } from './obstacles.ts';
import type { Plan } from './plan.ts';
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
      ...missingNames(object, names, ONLINE),
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
  return [
    ...repeatedObjects(state.desired),
    ...state.desired.objects.flatMap((object) => [
      ...missingReferences(object, isMissing),
      ...missingNames(object, names, state.desired.managed.has('model') ? ONLINE : REFUSED),
    ]),
  ];
}

/** Models that neither the server nor files without models have, for a warning. Reads nothing. */
export function missingModels(state: Omit<OnlineState, 'plan'>): Diagnostic[] {
  if (state.desired.managed.has('model')) return [];
  const names = createNames(state);
  return state.desired.objects.flatMap((object) => missingNames(object, names, MODELS));
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

/** Kinds of which the server keeps no object that names a missing one. */
const REFUSED: ReadonlySet<KindName> = new Set(['provider', 'agent', 'key']);
/** Kinds that can be missed only by a look at the server; a model is looked up when it is called. */
const MODELS: ReadonlySet<KindName> = new Set(['model']);
const ONLINE: ReadonlySet<KindName> = new Set([...REFUSED, ...MODELS]);
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
  kinds: ReadonlySet<KindName>,
): Diagnostic[] {
  const named = namedObjects(object.kind, object.body).filter(
    ({ kind, isReference }) => !isReference && kinds.has(kind),
  );
  return named.flatMap(({ path, kind, name }) => {
    const names = namesFor(kind, object);
    if (names.has(name)) return [];
    // An alias or a fallback may lead to a model that is made later.
    if (kind === 'model' && (!MODEL_USERS.has(object.kind) || namesFor.leadsToModel(name)))
      return [];
    // A Schedule may give an Agent with a harness one of the harness's models.
    if (path[0] === 'agent_config') return [];
    // Keys of tokens, `ISSUER/SUBJECT`, are made at their first call.
    if (kind === 'key' && name.includes('/')) return [];
    return fault(object, {
      path: formatPath(path),
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
  const rules = createNameRules(state);
  const leadsToModel = (name: string): boolean => isModelName(name, rules());
  return Object.assign(namesFor, { leadsToModel });
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
