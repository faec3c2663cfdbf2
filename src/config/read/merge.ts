import type { Diagnostic } from '../source/diagnostic.ts';
import { COLLECTIONS } from '../objects/kinds.ts';
import { formatPath, type Places } from '../source/locate.ts';

export interface MergedTree {
  readonly tree: Record<string, unknown>;
  readonly diagnostics: Diagnostic[];
}

/**
 * Joins the documents of all files: collections are joined in order, every other section occurs in
 * one document only (`version` and `namespace` may be repeated with the same value). A collection
 * that is null is refused: `[]` says that none is wanted, an absent one is unmanaged.
 */
export function mergeDocuments(
  values: readonly Readonly<Record<string, unknown>>[],
  places: Places,
): MergedTree {
  const tree: Record<string, unknown> = {};
  const diagnostics: Diagnostic[] = [];
  const report = (root: unknown, name: string, problem: { message: string; hint?: string }) =>
    diagnostics.push({
      ...places.find(root, [name], 'key'),
      path: formatPath([name]),
      severity: 'error',
      ...problem,
    });
  const mark = (name: string, root: object) =>
    places.markMember(tree, name, {
      key: places.find(root, [name], 'key'),
      value: places.find(root, [name]),
    });
  for (const value of values) {
    if (Object.keys(tree).length === 0) places.markContainer(tree, places.find(value, []));
    for (const [name, section] of Object.entries(value)) {
      const present = tree[name];
      if (section === null) {
        const hint = COLLECTIONS.has(name)
          ? `write ${name}: [] for none, or remove the key to leave them unmanaged`
          : 'remove the key';
        report(value, name, { message: `${name} has no value`, hint });
      } else if (present === undefined) {
        mark(name, value);
        tree[name] = Array.isArray(section) ? joined([], section, places) : section;
      } else if (Array.isArray(present) && Array.isArray(section)) {
        joined(present, section, places);
      } else if (present !== section) {
        const { file, line } = places.find(tree, [name], 'key');
        const message = `${name} is given twice`;
        report(value, name, { message, hint: `the first is at ${file}:${line}` });
      }
    }
  }
  return { tree, diagnostics };
}

function joined(target: unknown[], source: readonly unknown[], places: Places): unknown[] {
  for (const [index, item] of source.entries()) {
    const place = places.find(source, [index]);
    places.markMember(target, target.length, { key: place, value: place });
    if (target.length === 0) places.markContainer(target, places.find(source, []));
    target.push(item);
  }
  return target;
}
