import { suggest } from '../../core/suggest.ts';
import { fallbacksOf, ownedIdentity } from '../objects/desired.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { CONFIG_KINDS, DEFAULT_ORGANIZATION } from '../objects/kinds.ts';
import { formatPath, type Path, type Places } from '../source/locate.ts';
import { isRecord } from '../objects/record.ts';
import { ObjectRef } from '../objects/references.ts';

type Tree = Record<string, unknown>;
type Problem = Pick<Diagnostic, 'message' | 'hint'>;

/**
 * Checks what no single object shows: identities that stand twice, names that nothing declares,
 * fallbacks that lead back. A reference into an absent collection is left to the server, and so is one
 * into the collection `partial`, of which the tree holds only a part.
 */
export function checkReferences(tree: Tree, places: Places, partial?: string): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const report = (path: Path, { message, hint }: Problem) =>
    diagnostics.push({
      ...places.find(tree, path),
      path: formatPath(path),
      severity: 'error',
      message,
      ...(hint !== undefined && { hint }),
    });
  checkIdentities(tree, places, report);
  const names = new Map(
    CONFIG_KINDS.map(({ kind, collection }) => [
      kind as string,
      collection === partial ? undefined : namesOf(tree, collection),
    ]),
  );
  const expect = (path: Path, kind: string, name: unknown) => {
    const known = names.get(kind);
    if (typeof name !== 'string' || known === undefined || known.has(name)) return;
    report(path, { message: `no ${kind} is named ${name}`, hint: suggest(name, [...known]) });
  };
  for (const [index, model] of entriesOf(tree, 'models')) {
    for (const [route, { provider }] of entriesOf(model, 'routes')) {
      expect(['models', index, 'routes', route, 'provider'], 'provider', provider);
    }
    for (const [position, name] of fallbacksOf(model).entries()) {
      expect(['models', index, 'fallbacks', position], 'model', name);
    }
  }
  for (const { collection, isOwned } of CONFIG_KINDS) {
    for (const [index, { organization }] of isOwned ? entriesOf(tree, collection) : []) {
      const isElsewhere =
        organization === DEFAULT_ORGANIZATION ||
        (typeof organization === 'string' && organization.startsWith('org_'));
      if (!isElsewhere) expect([collection, index, 'organization'], 'organization', organization);
    }
  }
  checkObjectRefs(tree, [], (path, ref) => {
    if (!CONFIG_KINDS.some(({ kind }) => kind === ref.kind)) {
      const hint = suggest(
        ref.kind,
        CONFIG_KINDS.map(({ kind }) => kind),
      );
      report(path, { message: `${ref.toString()}: no kind is named ${ref.kind}`, hint });
    } else {
      expect(path, ref.kind, ref.name);
    }
  });
  checkMoves(tree, names, report);
  checkCycles(tree, report);
  return diagnostics;
}

type Report = (path: Path, problem: Problem) => void;

function checkIdentities(tree: Tree, places: Places, report: Report): void {
  for (const { kind, collection, isOwned } of CONFIG_KINDS) {
    const seen = new Map<string, number>();
    for (const [index, entry] of entriesOf(tree, collection)) {
      if (typeof entry['name'] !== 'string') continue;
      const name = entry['name'].trim();
      const identity = isOwned ? ownedIdentity(entry['organization'], name) : name;
      const first = seen.get(identity);
      if (first === undefined) {
        seen.set(identity, index);
        continue;
      }
      const { file, line, column } = places.find(tree, [collection, first, 'name']);
      report([collection, index, 'name'], {
        message: `${kind} ${name} is declared twice`,
        hint: `the first is at ${file}:${line}:${column}; rename or remove one`,
      });
    }
  }
}

/** A name that is moved away is free, and the one it is moved to is declared. */
function checkMoves(
  tree: Tree,
  names: ReadonlyMap<string, ReadonlySet<string> | undefined>,
  report: Report,
): void {
  for (const [index, { kind, from, to }] of entriesOf(tree, 'moved')) {
    const declared = names.get(String(kind)) ?? new Set<string>();
    if (declared.has(String(from))) {
      const message = `${String(from)} is still declared`;
      report(['moved', index, 'from'], { message, hint: 'remove one of the two' });
    } else if (!declared.has(String(to))) {
      const message = `${String(to)} is not declared`;
      report(['moved', index, 'to'], { message, hint: suggest(String(to), [...declared]) });
    }
  }
}

/** Each cycle is told once, at the fallback that closes it. */
function checkCycles(tree: Tree, report: Report): void {
  const models = new Map(
    entriesOf(tree, 'models').map(([index, model]) => [String(model['name']), { index, model }]),
  );
  const done = new Set<string>();
  const visit = (name: string, above: readonly string[]) => {
    const found = models.get(name);
    if (found === undefined || done.has(name)) return;
    for (const [position, next] of fallbacksOf(found.model).entries()) {
      const path = ['models', found.index, 'fallbacks', position];
      const start = [...above, name].indexOf(next);
      if (start < 0) visit(next, [...above, name]);
      else {
        const cycle = [...above, name, next].slice(start).join(' → ');
        report(path, {
          message: `the fallbacks form a cycle: ${cycle}`,
          hint: 'remove one of them',
        });
      }
    }
    done.add(name);
  };
  for (const name of models.keys()) visit(name, []);
}

function checkObjectRefs(
  value: unknown,
  path: Path,
  found: (path: Path, ref: ObjectRef) => void,
): void {
  if (value instanceof ObjectRef) found(path, value);
  else if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) checkObjectRefs(member, [...path, index], found);
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value)) {
      checkObjectRefs(member, [...path, name], found);
    }
  }
}

/** Undefined when the collection is absent. */
function namesOf(tree: Tree, collection: string): ReadonlySet<string> | undefined {
  if (!Array.isArray(tree[collection])) return undefined;
  return new Set(entriesOf(tree, collection).map(([, { name }]) => String(name).trim()));
}

function entriesOf(
  container: Readonly<Record<string, unknown>>,
  member: string,
): [number, Readonly<Record<string, unknown>>][] {
  const list = container[member];
  if (!Array.isArray(list)) return [];
  return [...list.entries()].flatMap(([index, entry]) => (isRecord(entry) ? [[index, entry]] : []));
}
