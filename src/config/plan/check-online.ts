import { suggest } from '../../core/suggest.ts';
import {
  type ActualState,
  findActual,
  findDeclared,
  organizationId,
  type View,
} from '../actual/actual.ts';
import { known } from '../actual/changes.ts';
import type { DesiredObject, DesiredState } from '../objects/desired.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import { NameRules } from '../../routing/name-rules.ts';
import { patternsOf } from '../read/check-aliases.ts';
import { objectRefs } from '../objects/object-refs.ts';
import type { Plan } from './plan.ts';
import { isRecord } from '../objects/record.ts';

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
  const place = (kind: KindName, identity: string) =>
    desired.objects.find((one) => one.kind === kind && one.identity === identity)!;
  return [
    ...plan.conflicts.map(({ kind, identity, owner, id }) =>
      fault(place(kind, identity), { message: `exists already as ${id} and belongs to ${owner}` }),
    ),
    ...plan.ambiguous.map(({ kind, identity, ids }) =>
      fault(place(kind, identity), {
        message: `several objects have this name: ${ids.join(', ')}`,
      }),
    ),
    ...plan.fixed.map(({ kind, identity, fields }) =>
      fault(place(kind, identity), {
        message: `${fields.join(', ')} of the existing object cannot change`,
      }),
    ),
    ...desired.objects.flatMap((object) => [
      ...missingReferences(object, state),
      ...missingNames(object, names),
      ...takenSlug(object, state),
    ]),
  ];
}

/** References of declared objects to what neither the files nor the server have. Reads nothing. */
export function checkDangling(state: Pick<OnlineState, 'desired' | 'actual'>): Diagnostic[] {
  const names = createNames(state);
  const kinds = new Set<KindName>(['provider', 'agent']);
  return state.desired.objects.flatMap((object) => [
    ...missingReferences(object, state),
    ...missingNames(object, names, kinds),
  ]);
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

function missingReferences(
  object: DesiredObject,
  { desired, actual }: Omit<OnlineState, 'plan'>,
): Diagnostic[] {
  return objectRefs(object.body)
    .filter(
      (ref) => !desired.objects.some(({ kind, name }) => kind === ref.kind && name === ref.name),
    )
    .filter((ref) => known(ref, actual, object) === ref.toString())
    .map((ref) =>
      fault(object, { message: `${ref.toString()}: no ${ref.kind} is named ${ref.name}` }),
    );
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
      hint: suggest(name, alike(name, { kind, names })),
    });
  });
}

/** Names for a name, ids for an id: nobody looks for the one among the other. */
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
    const owner = organizationId(body['organization'], state.actual);
    const key = `${kind} ${owner ?? ''}`;
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

/** Makes the rules of names once they are asked for: of what is declared, and of what else there is. */
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
  owner: string | undefined,
  { desired, actual }: Omit<OnlineState, 'plan'>,
): ReadonlySet<string> {
  const there = actual[kind].filter(
    ({ organization }) => typeof organization !== 'string' || organization === owner,
  );
  return new Set([
    ...desired.objects.filter((one) => one.kind === kind).map(({ name }) => name),
    ...there.flatMap(({ id, name }) => [id, String(name)]),
  ]);
}

function takenSlug(object: DesiredObject, state: OnlineState): Diagnostic[] {
  return slugHolder(object, state).map(({ slug, holder }) =>
    fault(object, { path: 'slug', message: `${slug} is the slug of ${holder.id}` }),
  );
}

function slugHolder(
  object: DesiredObject,
  { desired, actual }: Omit<OnlineState, 'plan'>,
): TakenSlug[] {
  const { slug } = object.body;
  if (typeof slug !== 'string') return [];
  const { kind, identity } = object;
  const former = desired.moved.find((one) => one.kind === kind && one.to === identity)?.from;
  const moved = former === undefined ? [] : findActual(kind, former, actual);
  const own = new Set([...findDeclared(object, actual), ...moved].map(({ id }) => id));
  const owner = organizationId(object.body['organization'], actual);
  const taken = actual[object.kind].find(
    (view) => view['slug'] === slug && view['organization'] === owner && !own.has(view.id),
  );
  return taken ? [{ object, slug, holder: taken }] : [];
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
