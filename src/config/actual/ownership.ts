import { isRecord } from '../objects/record.ts';

export const NAMESPACE_LABEL = 'gateway/namespace';
export const OWNER_LABEL = 'gateway/owner';
export const LAST_APPLIED_LABEL = 'gateway/last-applied';
/** Digests of the fields that were last applied. */
export const APPLIED_FIELDS_LABEL = 'gateway/applied-fields';
export const PROTECTED_LABEL = 'gateway/protected';
/** The version at which an apply began an update that requires a pause. */
export const PAUSED_AT_LABEL = 'gateway/paused-at';
export const PRUNE_LABEL = 'gateway/prune';
/** Switched off because it was no longer declared. */
export const PRUNED_LABEL = 'gateway/pruned';

/** The label that says who manages an object: `apply` by namespace, `start` by file. */
export interface Owner {
  readonly label: typeof NAMESPACE_LABEL | typeof OWNER_LABEL;
  readonly value: string;
  /** Namespaces by the ids of the objects that their inventories name; they decide before labels do. */
  readonly known?: ReadonlyMap<string, string>;
}

export type Ownership = 'own' | 'other' | 'none';

export function labelsOf(view: Readonly<Record<string, unknown>>): Record<string, string> {
  const { labels } = view;
  if (!isRecord(labels)) return {};
  return Object.fromEntries(
    Object.entries(labels).flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, value]] : [],
    ),
  );
}

/** An object of the API carries no owner; else its inventory decides, then the label that it has. */
export function ownershipOf(view: Readonly<Record<string, unknown>>, owner: Owner): Ownership {
  const known = owner.known?.get(String(view['id']));
  if (known !== undefined) return known === owner.value ? 'own' : 'other';
  const labels = labelsOf(view);
  if (labels[owner.label] === owner.value) return 'own';
  return OWNER_LABEL in labels || NAMESPACE_LABEL in labels ? 'other' : 'none';
}

/** The namespace that owns an object, as inventories know it, else by its label. */
export function namespaceOf(
  view: Readonly<Record<string, unknown>>,
  known?: Owner['known'],
): string | undefined {
  return known?.get(String(view['id'])) ?? labelsOf(view)[NAMESPACE_LABEL];
}

/** Owner of an object, in words. */
export function ownerName(view: Readonly<Record<string, unknown>>, known?: Owner['known']): string {
  const labels = labelsOf(view);
  const namespace = namespaceOf(view, known);
  return labels[OWNER_LABEL] ?? (namespace === undefined ? 'the API' : `namespace ${namespace}`);
}
