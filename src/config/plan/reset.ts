import type { View } from '../actual/actual.ts';
import { type Change, comparableField, viewField } from '../actual/changes.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { signalOf } from '../../resources/fields/secret-path.ts';
import { ignoredOf } from './ignored.ts';
import { declaredBefore, type InventoryEntry } from '../actual/inventory.ts';
import { kindOf } from '../objects/kinds.ts';
import { labelsOf } from '../actual/ownership.ts';
import { canonicalJson } from '../objects/record.ts';

/** Members that an object always has, whatever its files say. */
const KEPT: ReadonlySet<string> = new Set(['name', 'organization', 'labels']);

/**
 * Changes that take back what the files of the namespace once declared of an object and no longer
 * do: fields go to their defaults, labels go. Nothing where the earlier declaration is not known,
 * where the value cannot change, and where `ignore_changes` keeps it.
 */
export function resetChanges(
  object: DesiredObject,
  view: View,
  entry: InventoryEntry | undefined,
): Change[] {
  const before = declaredBefore(view, entry);
  if (before === undefined) return [];
  const ignored = ignoredOf(object);
  const fields = before.fields
    .filter((field) => !(field in object.body) && !KEPT.has(field) && !ignored.fields.has(field))
    .flatMap((field) => fieldReset(object, field, view));
  const present = labelsOf(view);
  const labels = ignored.fields.has('labels') ? [] : before.labels;
  const gone = labels
    .filter((name) => !(name in object.labels) && name in present && !ignored.labels.has(name))
    .map((name) => ({
      path: `labels[${JSON.stringify(name)}]`,
      field: 'labels',
      old: present[name],
      new: null,
      reset: true as const,
    }));
  return [...fields, ...gone];
}

function fieldReset({ kind, name }: DesiredObject, field: string, view: View): Change[] {
  const { definition, secrets, isFixed } = kindOf(kind);
  const schema = definition.fields.shape[field];
  if (schema === undefined || isFixed(field, view)) return [];
  if (secrets.includes(field)) {
    if (view[signalOf(field)] !== true) return [];
    return [{ path: field, field, old: 'configured', new: null, secret: true, reset: true }];
  }
  const shown = view[viewField(kind, field)];
  const standard = schema.safeParse(undefined);
  if (!standard.success) return [];
  const isMap = definition.patched?.includes(field) === true;
  const next = standard.data ?? (isMap ? {} : null);
  if (next === null && !schema.safeParse(null).success) return [];
  const spelled = (value: unknown) =>
    comparableField({ kind, name }, field, { value, view: shown });
  const [old, wanted] = [spelled(shown), spelled(next)];
  if (canonicalJson(old) === canonicalJson(wanted)) return [];
  return [{ path: field, field, old: old ?? null, new: next, reset: true }];
}
