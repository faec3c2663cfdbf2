import { suggest } from '../../core/suggest.ts';
import { declaredOwner, fallbacksOf, identityIn } from '../objects/desired.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { CONFIG_KINDS, DEFAULT_ORGANIZATION, type KindName, titleOf } from '../objects/kinds.ts';
import { MODEL_USERS, namedObjects } from '../objects/named-objects.ts';
import { createModelCheck } from './check-aliases.ts';
import { checkMoves } from './check-moves.ts';
import { checkLentRoutes, createLentCheck } from './lent-models.ts';
import {
  type Checked,
  entriesOf,
  isOrganizationId,
  isPerhapsSame,
  type Names,
  namesIn,
  type Problem,
  type Report,
  type Tree,
} from './declared-names.ts';
import { formatPath, type Path, type Places } from '../source/locate.ts';
import { isRecord } from '../objects/record.ts';
import { ObjectRef } from '../objects/references.ts';

/**
 * Checks what no single object shows: identities that occur twice, names that nothing declares,
 * fallbacks that lead back. A reference into an absent collection is left to the server, and so is
 * one into the collection `partial`, of which the tree holds only a part. With `hasStore` a missing
 * model of an Agent is a warning: the store may have it.
 */
export function checkReferences(
  tree: Tree,
  places: Places,
  { partial, hasStore = false }: { partial?: string; hasStore?: boolean | undefined } = {},
): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const report: Report = (path, { message, hint }, severity = 'error') =>
    void diagnostics.push({
      ...places.find(tree, path),
      path: formatPath(path),
      severity,
      message,
      ...(hint !== undefined && { hint }),
    });
  const names = new Map<unknown, Names>(
    CONFIG_KINDS.map(({ kind, collection }) => [
      kind,
      collection === partial ? undefined : namesIn(tree, collection),
    ]),
  );
  const checked = { tree, places, report, namesOf: (kind: unknown) => names.get(kind) };
  checkIdentities(checked);
  checkNames(checked);
  checkObjectRefs(checked);
  checkModels(checked, hasStore);
  checkLentRoutes(tree, report);
  checkMoves(checked);
  checkCycles(tree, report);
  return diagnostics;
}

function checkIdentities({ tree, places, report }: Checked): void {
  for (const { kind, collection } of CONFIG_KINDS) {
    const seen = new Map<string, number>();
    for (const [index, entry] of entriesOf(tree, collection)) {
      if (typeof entry['name'] !== 'string') continue;
      const name = entry['name'].trim();
      const identity = identityIn(entry['organization'], kind, name);
      const first = seen.get(identity);
      if (first === undefined) {
        seen.set(identity, index);
        continue;
      }
      const { file, line, column } = places.find(tree, [collection, first, 'name']);
      report([collection, index, 'name'], {
        message: `${titleOf({ kind, identity: name })} is declared twice`,
        hint: `the first is at ${file}:${line}:${column}; rename or remove one`,
      });
    }
  }
}

/** Checks plain names of providers, models and organizations. */
function checkNames({ tree, report, namesOf }: Checked): void {
  const expect = (path: Path, kind: KindName, name: unknown) => {
    const known = namesOf(kind);
    if (typeof name !== 'string' || known === undefined || known.has(name)) return;
    report(path, {
      message: `no ${kind} is named ${name}`,
      hint: suggest(name, [...known.keys()]),
    });
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
        (typeof organization === 'string' && isOrganizationId(organization));
      if (!isElsewhere) expect([collection, index, 'organization'], 'organization', organization);
    }
  }
}

function checkObjectRefs({ tree, report, namesOf }: Checked): void {
  eachObjectRef(tree, [], (path, ref) => {
    const found = CONFIG_KINDS.find(({ kind }) => kind === ref.kind);
    if (found === undefined) {
      const hint = suggest(
        ref.kind,
        CONFIG_KINDS.map(({ kind }) => kind),
      );
      report(path, { message: `${ref.toString()}: no kind is named ${ref.kind}`, hint });
      return;
    }
    const known = namesOf(ref.kind);
    const problem = known && missing(ref, known, found.isOwned ? ownerAt(tree, path) : undefined);
    if (problem) report(path, problem);
  });
}

/** Problem of a reference whose object is not declared, or not in the organization `owner`. */
function missing(
  { kind, name }: ObjectRef,
  known: NonNullable<Names>,
  owner: string | undefined,
): Problem | undefined {
  const owners = known.get(name);
  const mayBe = (one: string): boolean => owner === undefined || isPerhapsSame(one, owner);
  if (owners?.some(mayBe) === true) return undefined;
  if (owners === undefined) {
    const near = [...known].filter(([, all]) => all.some(mayBe)).map(([one]) => one);
    return { message: `no ${kind} is named ${name}`, hint: suggest(name, near) };
  }
  return {
    message: `no ${kind} is named ${name} in organization ${owner}`,
    hint: `${owners.join(', ')} has one of this name, but an object refers to its own organization alone`,
  };
}

/** Organization of the object that a path leads into. */
function ownerAt(tree: Tree, [section, index]: Path): string {
  const entries = tree[String(section)];
  const entry: unknown = Array.isArray(entries) ? entries[Number(index)] : undefined;
  return declaredOwner(isRecord(entry) ? entry['organization'] : undefined);
}

/**
 * Checks the models of Agents and of what runs without one. A name whose first part no declared object
 * has may be of another namespace of the gateway, or made by its API.
 */
function checkModels({ tree, report }: Checked, hasStore: boolean): void {
  const faultOf = createModelCheck(tree);
  const lentOf = createLentCheck(tree);
  const own = new Set(
    ['models', 'providers', 'aliases'].flatMap((collection) =>
      entriesOf(tree, collection).map(([, { name }]) => vendorOf(String(name))),
    ),
  );
  for (const { kind, collection } of CONFIG_KINDS) {
    for (const [index, entry] of MODEL_USERS.has(kind) ? entriesOf(tree, collection) : []) {
      for (const { path, kind: target, name, isReference } of namedObjects(kind, entry)) {
        if (target !== 'model' || isReference || isHarnessed(tree, entry, path)) continue;
        const problem = faultOf(name, true);
        const lent = lentOf(name);
        if (lent) report([collection, index, ...path], lent, 'warning');
        if (problem === undefined) continue;
        const mayBeElsewhere = hasStore || !own.has(vendorOf(name));
        const message = `${problem.message}, unless another namespace or the API of the gateway made it`;
        if (mayBeElsewhere)
          report([collection, index, ...path], { ...problem, message }, 'warning');
        else report([collection, index, ...path], problem);
      }
    }
  }
}

/** True for the model that a Schedule gives an Agent which may have a harness, with models of its own. */
function isHarnessed(tree: Tree, { agent_id: agent }: Readonly<Tree>, [first]: Path): boolean {
  if (first !== 'agent_config') return false;
  const name = agent instanceof ObjectRef ? agent.name : agent;
  const found = entriesOf(tree, 'agents').filter(([, one]) => one['name'] === name);
  return found.length === 0 || found.some(([, { harness }]) => (harness ?? null) !== null);
}

/** First part of the name of a model or an alias; the name of a provider. */
function vendorOf(name: string): string {
  return name.trim().split('/', 1)[0] ?? '';
}

/** Reports each cycle once, at the fallback that closes it. */
function checkCycles(tree: Tree, report: Report): void {
  const models = new Map(
    entriesOf(tree, 'models').map(([index, model]) => [
      String(model['name']).trim(),
      { index, model },
    ]),
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

function eachObjectRef(
  value: unknown,
  path: Path,
  found: (path: Path, ref: ObjectRef) => void,
): void {
  if (value instanceof ObjectRef) found(path, value);
  else if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) eachObjectRef(member, [...path, index], found);
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value)) {
      eachObjectRef(member, [...path, name], found);
    }
  }
}
