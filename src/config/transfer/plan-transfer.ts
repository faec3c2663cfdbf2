import { type ActualState, identityOf, type View } from '../actual/actual.ts';
import { type Inventory, type InventoryEntry, namespacesById } from '../actual/inventory.ts';
import { CONFIG_KINDS, type KindName } from '../objects/kinds.ts';
import { namespaceOf, ownerName } from '../actual/ownership.ts';
import { isLeftPaused } from '../plan/rebind.ts';
import { isMatch, type Pattern } from '../plan/selection.ts';

/** An object that gets another namespace. */
export interface Transferred {
  readonly kind: KindName;
  readonly identity: string;
  readonly id: string;
  readonly from: string;
  readonly view: View;
}

/** Changes that give objects to another namespace. */
export interface Transfer {
  readonly to: string;
  /** The namespace that becomes `to` as a whole. */
  readonly renamed: string | undefined;
  /** Objects in the order of kinds. */
  readonly objects: readonly Transferred[];
  /** Number of chosen objects, or of all where a namespace is renamed, that are of `to` already. */
  readonly already: number;
  /** Entries of all of them in the inventory of `to`. */
  readonly entries: readonly InventoryEntry[];
  readonly managed: Inventory['managed'];
  /** Ids that only the inventory of `to` names in the end. */
  readonly ids: ReadonlySet<string>;
  /** Objects that must not move, each with the reason. */
  readonly refused: readonly { kind: KindName; identity: string; reason: string }[];
  /** Patterns that nothing matches. */
  readonly unused: readonly Pattern[];
  /** True where a namespace that is renamed has nothing, and the new name does not have it either. */
  readonly isEmpty: boolean;
  /** True where `from` is given with single objects, and no namespace is known by that name. */
  readonly isFromUnknown: boolean;
  /** Namespaces that own objects. */
  readonly namespaces: readonly string[];
}

export interface TransferOptions {
  readonly actual: ActualState;
  readonly inventories: readonly Inventory[];
  readonly to: string;
  /** Namespace whose objects are meant. Default: any, for objects that are named one by one. */
  readonly from?: string | undefined;
  /** Default: everything of `from`. */
  readonly only?: readonly Pattern[] | undefined;
}

/** Compares who owns what with who shall. Pure. */
export function planTransfer(options: TransferOptions): Transfer {
  const { to, from, only } = options;
  const all = ownedObjects(options);
  const chosen = all.filter((one) => isChosen(one, options));
  const renamed = only === undefined ? from : undefined;
  const former = inventoryOf(renamed, options);
  const moving = chosen.filter(({ namespace }) => namespace !== undefined && namespace !== to);
  const staying = chosen.filter(({ namespace }) => namespace === to);
  const entries = entriesFor([...moving, ...staying], options);
  const already = (renamed === undefined ? chosen : all).filter((one) => one.namespace === to);
  const namespaces = [...new Set(all.flatMap(({ namespace }) => namespace ?? []))].sort();
  return {
    to,
    renamed,
    objects: moving.map(({ kind, identity, namespace = '', view }) => {
      return { kind, identity, id: view.id, from: namespace, view };
    }),
    already: already.length,
    entries,
    managed: former?.managed ?? {},
    ids: new Set([...entries, ...(former?.objects ?? [])].map(({ id }) => id)),
    refused: chosen.flatMap((one) => {
      const reason = refusal(one, options);
      return reason === undefined ? [] : [{ kind: one.kind, identity: one.identity, reason }];
    }),
    unused: (only ?? []).filter((pattern) => !chosen.some((one) => isMatch(pattern, one))),
    isEmpty:
      renamed !== undefined &&
      entries.length + already.length === 0 &&
      (former !== undefined || !inventoryOf(to, options)),
    // One that gave everything away keeps its inventory, so the same transfer may be repeated.
    isFromUnknown:
      only !== undefined &&
      from !== undefined &&
      !namespaces.includes(from) &&
      !inventoryOf(from, options),
    namespaces,
  };
}

interface Chosen {
  readonly kind: KindName;
  readonly identity: string;
  readonly name: string;
  readonly view: View;
  /** Undefined for an object that no namespace owns. */
  readonly namespace: string | undefined;
}

function ownedObjects({ actual, inventories, to }: TransferOptions): Chosen[] {
  const known = namespacesById(inventories);
  // An object without a label that two inventories name has not left the former one.
  const leaving = namespacesById(inventories.filter(({ namespace }) => namespace !== to));
  return CONFIG_KINDS.flatMap(({ kind }) =>
    actual[kind].map((view): Chosen => {
      const identity = identityOf(kind, view, actual);
      const { id } = view;
      const namespace = namespaceOf(view, known) ?? leaving.get(id);
      return { kind, identity, name: String(view['name']), view, namespace };
    }),
  );
}

function isChosen(one: Chosen, { only, from, to }: TransferOptions): boolean {
  if (only === undefined) return one.namespace === from && !isRevoked(one.view);
  return only.some(
    (pattern) =>
      isMatch(pattern, one) &&
      // A pattern for many takes only objects of the named namespaces that can move.
      (pattern.isExact || (isAmong(one, [from, to]) && !isRevoked(one.view))),
  );
}

function isAmong({ namespace }: Chosen, names: readonly (string | undefined)[]): boolean {
  return namespace !== undefined && names.includes(namespace);
}

function isRevoked(view: View): boolean {
  return (view['revoked_at'] ?? null) !== null;
}

function refusal(
  { kind, view, namespace }: Chosen,
  { to, from }: TransferOptions,
): string | undefined {
  if (isRevoked(view)) return 'it is revoked';
  if (namespace === undefined) return `it belongs to ${ownerName(view)}`;
  if (namespace === to) return undefined;
  if (from !== undefined && namespace !== from) return `it belongs to namespace ${namespace}`;
  return isLeftPaused(kind, view)
    ? `an apply of ${namespace} paused it and has not come to its end`
    : undefined;
}

/** Inventory entries of objects; of a renamed namespace also those of removed objects. */
function entriesFor(chosen: readonly Chosen[], options: TransferOptions): InventoryEntry[] {
  const { inventories, actual, only, from } = options;
  const everywhere = new Map(
    inventories.flatMap(({ objects }) => objects.map((entry) => [entry.id, entry] as const)),
  );
  const entries = chosen.map(({ kind, identity, view: { id }, namespace }): InventoryEntry => {
    const own = inventoryOf(namespace, options)?.objects.find((entry) => entry.id === id);
    return { fields: null, ...(own ?? everywhere.get(id)), kind, identity, id };
  });
  if (only !== undefined) return entries;
  const present = new Set(
    CONFIG_KINDS.flatMap(({ kind }) => actual[kind].filter((view) => !isRevoked(view))).map(
      ({ id }) => id,
    ),
  );
  const gone = (inventoryOf(from, options)?.objects ?? []).filter(({ id }) => !present.has(id));
  return [...entries, ...gone];
}

function inventoryOf(
  namespace: string | undefined,
  { inventories }: Pick<TransferOptions, 'inventories'>,
): Inventory | undefined {
  return inventories.find((one) => one.namespace === namespace);
}
