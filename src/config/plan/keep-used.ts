import {
  type ActualState,
  findDeclared,
  identityOf,
  isAlive,
  organizationId,
} from '../actual/actual.ts';
import type { findActual, View } from '../actual/actual.ts';
import { known } from '../actual/changes.ts';
import type { DesiredState } from '../objects/desired.ts';
import { kindOf, type KindName, titleOf } from '../objects/kinds.ts';
import { BELONGINGS, namedObjects, namersOf } from '../objects/named-objects.ts';
import { objectKey } from '../objects/object-refs.ts';
import type { LeftOut } from './fixed.ts';
import { createNameRules, isModelName } from './model-names.ts';
import type { PlanAction } from './plan-action.ts';

/** Users that a reason names. */
const MAX_NAMED = 5;

export interface KeepUsedOptions {
  readonly desired: DesiredState;
  readonly actual: ActualState;
  readonly find: typeof findActual;
  /** Keys of declared objects that stay as they are. */
  readonly stuck: ReadonlySet<string>;
}

/** An object as it is after the plan. */
interface User {
  readonly title: string;
  readonly view: View | undefined;
  readonly organization: unknown;
  readonly kind: KindName;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Takes out the removals of objects that others still name: models of Agents, Agents of Services and
 * Schedules, and so on. Dependents go first, so that a kept object keeps those that it names.
 */
export function keepUsed(
  removals: readonly PlanAction[],
  options: KeepUsedOptions,
): { removals: PlanAction[]; kept: LeftOut[] } {
  if (removals.length === 0) return { removals: [], kept: [] };
  const usersOf = usersByTarget(removals, options);
  const gone = new Set<string>();
  const kept: LeftOut[] = [];
  const rest = removals.filter(({ kind, identity, id }) => {
    const users = [...(usersOf.get(id ?? '') ?? [])].filter(
      ({ view }) => !gone.has(view?.id ?? ''),
    );
    if (users.length === 0) gone.add(id ?? '');
    else kept.push({ kind, identity, id, reason: `it is used by ${titles(users)}` });
    return users.length === 0;
  });
  return { removals: rest, kept };
}

function titles(users: readonly User[]): string {
  const shown = users.slice(0, MAX_NAMED).map(({ title }) => title);
  const more = users.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Users of each object that is to go, by its id. */
function usersByTarget(
  removals: readonly PlanAction[],
  options: KeepUsedOptions,
): Map<string, Set<User>> {
  const { actual } = options;
  const targets = new Map<string, string>();
  const kindOfId = new Map(removals.map(({ kind, id }) => [id, kind]));
  const removed = [...new Set(kindOfId.values())].flatMap((kind) =>
    actual[kind].filter(({ id }) => kindOfId.get(id) === kind).map((view) => ({ kind, view })),
  );
  for (const { kind, view } of removed) {
    const { id } = view;
    const owner = kindOf(kind).isOwned ? view['organization'] : '';
    targets.set(`${kind} ${id}`, id).set(`${kind} ${String(owner)}/${String(view['name'])}`, id);
  }
  const users = new Map<string, Set<User>>();
  const note = (id: string | undefined, user: User): void => {
    if (id === undefined || id === user.view?.id) return;
    users.set(id, (users.get(id) ?? new Set<User>()).add(user));
  };
  const kinds = kindsThatName(new Set(removals.map(({ kind }) => kind)));
  const leadingTo = createLeading(removals, options);
  for (const kind of kinds) {
    for (const user of remaining(kind, options)) {
      for (const named of namedObjects(kind, user.body)) {
        if (named.kind === 'model') {
          for (const step of leadingTo(named.name)) note(targets.get(step), user);
          continue;
        }
        const owner = kindOf(named.kind).isOwned ? user.organization : '';
        const byName = targets.get(`${named.kind} ${String(owner)}/${named.name}`);
        note(targets.get(`${named.kind} ${named.name}`) ?? byName, user);
      }
    }
  }
  return users;
}

/** An alias or a provider can be what makes the name of a model one. */
function modelNamers(kind: KindName): KindName[] {
  return kind === 'alias' || kind === 'provider' ? namersOf('model') : [];
}

/**
 * Targets on the way from a name to its model, none for a name that leads to a model without those
 * that go.
 */
function createLeading(
  removals: readonly PlanAction[],
  { desired, actual }: KeepUsedOptions,
): (name: string) => string[] {
  const ids = new Set(removals.map(({ id }) => id));
  const without = (kind: KindName): View[] => actual[kind].filter(({ id }) => !ids.has(id));
  const [now, later] = [
    createNameRules({ actual, desired: { objects: [] } }),
    createNameRules({
      actual: { ...actual, ...pick(['model', 'alias', 'provider'], without) },
      desired,
    }),
  ];
  return (name) => {
    if (isModelName(name, later())) return [];
    const { rules, isDeclared } = now();
    return rules.stepsTo(name, isDeclared).map(({ rule, by }) => `${rule} /${by}`);
  };
}

function pick<T>(kinds: readonly KindName[], make: (kind: KindName) => T) {
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<KindName, T>;
}

/** Objects of a kind after the plan, those to be removed among them. */
function remaining(kind: KindName, { desired, actual, find, stuck }: KeepUsedOptions): User[] {
  const declared = new Map<View | undefined, User>();
  const created: User[] = [];
  for (const object of desired.objects) {
    if (object.kind !== kind || stuck.has(objectKey(kind, object.identity))) continue;
    const { identity, body } = object;
    const former = desired.moved.find((one) => one.kind === kind && one.to === identity)?.from;
    const [view] = [
      ...findDeclared(object, actual, find),
      ...(former === undefined ? [] : find(kind, former, actual)),
    ];
    const user: User = {
      title: titleOf({ kind, identity }),
      view,
      organization: view?.['organization'] ?? organizationId(body['organization'], actual),
      kind,
      body: { ...view, ...(known(body, actual, object) as Readonly<Record<string, unknown>>) },
    };
    if (view) declared.set(view, user);
    else created.push(user);
  }
  const there = actual[kind]
    .filter((view) => isAlive(view) && !isOff(kind, view))
    .map(
      (view): User =>
        declared.get(view) ?? {
          title: titleOf({ kind, identity: identityOf(kind, view, actual) }),
          view,
          organization: view['organization'],
          kind,
          body: view,
        },
    );
  return [...there, ...created];
}

/** True for an organization's object that was switched off: it uses nothing now. */
function isOff(kind: KindName, view: View): boolean {
  const off = Object.entries(kindOf(kind).off ?? {});
  return (
    kindOf(kind).isOwned && off.length > 0 && off.every(([field, value]) => view[field] === value)
  );
}

/** Kinds to read before a removal of these can be judged. */
export function kindsThatName(managed: ReadonlySet<KindName>): Set<KindName> {
  const namers = [...managed].flatMap((kind) => [...namersOf(kind), ...modelNamers(kind)]);
  return new Set(namers.filter((kind) => !BELONGINGS.has(kind)));
}
