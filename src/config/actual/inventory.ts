import { type ActualState, createFinder, findDeclared, identityOf, type View } from './actual.ts';
import { readAppliedFields } from './applied-fields.ts';
import type { DesiredObject, DesiredState } from '../objects/desired.ts';
import type { KindName } from '../objects/kinds.ts';
import { kindsToRead, objectKey } from '../objects/object-refs.ts';
import {
  APPLIED_FIELDS_LABEL,
  labelsOf,
  NAMESPACE_LABEL,
  type Owner,
  ownershipOf,
} from './ownership.ts';
import type { PlanAction } from '../plan/plan-action.ts';

/** One object that a namespace owns. */
export interface InventoryEntry {
  readonly kind: KindName;
  readonly identity: string;
  readonly id: string;
  /** Names of the fields that were declared last, separated by spaces; null when they are not known. */
  readonly fields: string | null;
}

/** Content of the inventory of a namespace. */
export interface Inventory {
  readonly id: string;
  readonly version: number;
  readonly namespace: string;
  readonly objects: readonly InventoryEntry[];
  /** Creation time, by kind, of the newest object that was there when the files began to manage it. */
  readonly managed: Readonly<Partial<Record<KindName, string>>>;
}

/** Fields and labels that the files declare of an object, as {@link InventoryEntry.fields}. */
export function declaredFields({ body, labels }: DesiredObject): string {
  const named = Object.keys(labels).map((name) => `${LABEL}${encodeURIComponent(name)}`);
  return [...Object.keys(body), ...named].sort().join(' ');
}

const LABEL = 'labels:';

/**
 * Fields and labels that were declared of an object before: by the inventory, else by the label that
 * earlier releases wrote. Undefined when neither knows.
 */
export function declaredBefore(
  view: View,
  entry: InventoryEntry | undefined,
): { fields: readonly string[]; labels: readonly string[] } | undefined {
  const written = labelsOf(view)[APPLIED_FIELDS_LABEL];
  const names =
    entry?.fields?.split(' ') ??
    (written === undefined ? undefined : [...readAppliedFields(written).keys()]);
  return (
    names && {
      fields: names.filter((name) => name !== '' && !name.startsWith(LABEL)),
      labels: names
        .filter((name) => name.startsWith(LABEL))
        .map((name) => decodeURIComponent(name.slice(LABEL.length))),
    }
  );
}

/**
 * The owner that a namespace is, as the inventories of all namespaces know it. Two of them name an object
 * that is on its way from one to the other; its label decides then.
 */
export function withInventories(owner: Owner, inventories: readonly Inventory[]): Owner {
  if (owner.label !== NAMESPACE_LABEL) return owner;
  return { ...owner, known: namespacesById(inventories) };
}

/** Namespaces by the ids of the objects that exactly one inventory names. */
export function namespacesById(inventories: readonly Inventory[]): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  const shared = new Set<string>();
  for (const { namespace, objects } of inventories) {
    for (const { id } of objects) {
      if ((known.get(id) ?? namespace) !== namespace) shared.add(id);
      known.set(id, namespace);
    }
  }
  for (const id of shared) known.delete(id);
  return known;
}

export interface InventoryUpdate {
  readonly before: Inventory | undefined;
  readonly desired: DesiredState;
  readonly owner: Owner;
  /** State before the apply; its newest object of a kind dates the management of that kind. */
  readonly found: ActualState;
  /** State after the apply. */
  readonly left: ActualState;
  readonly report: Readonly<Record<'applied' | 'failed' | 'blocked' | 'notRun', readonly Done[]>>;
}

type Done = Pick<PlanAction, 'kind' | 'identity' | 'action' | 'id'>;

/** Inventory after an apply. Pure. */
export function nextInventory(update: InventoryUpdate): Pick<Inventory, 'objects' | 'managed'> {
  const { before, desired, found } = update;
  const known = new Map((before?.objects ?? []).map((entry) => [entry.id, entry]));
  const declared = declaredEntries(update, known);
  const taken = new Set(declared.map(({ id }) => id));
  const others = [...undeclaredEntries(update, known), ...unwrittenEntries(update, known)];
  const rest = others.filter(({ id }) => !taken.has(id) && taken.add(id));
  const managed = { ...before?.managed };
  for (const kind of desired.managed) managed[kind] ??= newest(found[kind]);
  return { objects: [...declared, ...rest].sort(byKindAndIdentity), managed };
}

type Known = ReadonlyMap<string, InventoryEntry>;

function declaredEntries({ desired, owner, left, report }: InventoryUpdate, known: Known) {
  const find = createFinder();
  const unready = new Set(
    [...report.failed, ...report.blocked, ...report.notRun].map(({ kind, identity }) =>
      objectKey(kind, identity),
    ),
  );
  return desired.objects.flatMap((object): InventoryEntry[] => {
    const { kind, identity } = object;
    const views = findDeclared(object, left, find);
    const view = views.find((one) => ownershipOf(one, owner) === 'own');
    if (view === undefined) return [];
    const isReady = !unready.has(objectKey(kind, identity));
    const fields = isReady ? declaredFields(object) : (known.get(view.id)?.fields ?? null);
    return [{ kind, identity, id: view.id, fields }];
  });
}

/** Declared objects that this apply did not write, or could not, as they were known before. */
function unwrittenEntries({ desired, report }: InventoryUpdate, known: Known): InventoryEntry[] {
  const unready = [...report.failed, ...report.blocked, ...report.notRun];
  const unwritten = [...unready, ...(desired.selection?.leftOut ?? [])];
  const keys = new Set(unwritten.map(({ kind, identity }) => objectKey(kind, identity)));
  return [...known.values()].filter(({ kind, identity }) => keys.has(objectKey(kind, identity)));
}

/** Owned objects that the files do not name and that are still there. */
function undeclaredEntries({ desired, owner, left, report }: InventoryUpdate, known: Known) {
  const ended = new Set(
    report.applied
      .filter(({ action }) => action === 'delete' || action === 'revoke' || action === 'archive')
      .map(({ id }) => id),
  );
  const read = kindsToRead(desired);
  const there = [...read].flatMap((kind) =>
    left[kind]
      .filter((view) => ownershipOf(view, owner) === 'own' && !ended.has(view.id))
      .filter((view) => (view['revoked_at'] ?? null) === null)
      .map((view): InventoryEntry => {
        const identity = identityOf(kind, view, left);
        return { ...(known.get(view.id) ?? { fields: null }), kind, identity, id: view.id };
      }),
  );
  // Entries of kinds that this apply did not read stay as they are.
  const unread = [...known.values()].filter(({ kind, id }) => !read.has(kind) && !ended.has(id));
  return [...there, ...unread];
}

function newest(views: readonly View[]): string {
  return views.map((view) => view.created_at ?? '').reduce(later, '');
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

/** Order of the objects of an inventory. */
export function byKindAndIdentity(a: InventoryEntry, b: InventoryEntry): number {
  const [one, other] = [`${a.kind} ${a.identity}`, `${b.kind} ${b.identity}`];
  return one < other ? -1 : one > other ? 1 : 0;
}
