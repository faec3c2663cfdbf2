import { GatewayError } from '../core/errors.ts';
import type { Op, Version } from '../store/store.ts';
import type { ResourceDefinition, Stored } from './define-resource.ts';
import { resourceKey } from './storage-keys.ts';

export interface ReferenceDeps {
  definitionOf(kind: string): ResourceDefinition;
  load(
    definition: ResourceDefinition,
    idOrName: string,
  ): Promise<{ stored: Stored; version: Version } | undefined>;
}

interface Referrer {
  definition: ResourceDefinition;
  stored: Stored;
}

/**
 * Makes sure that everything a resource names exists and that no chain of names of its own kind leads
 * back to it; the operations hold what was seen until the commit.
 *
 * @throws GatewayError `not_found` (decisions: unknown reference in a body), `unprocessable` for a cycle
 */
export async function checkReferences(
  { definition, stored }: Referrer,
  deps: ReferenceDeps,
): Promise<Op[]> {
  const ops = new Map<string, Op>();
  for (const { kind, target, path } of definition.refs(stored.spec)) {
    const isSelf = kind === stored.kind && (target === stored.spec.name || target === stored.id);
    const found = isSelf ? undefined : await deps.load(deps.definitionOf(kind), target);
    if (isSelf) throw cycle(path, [stored.spec.name, stored.spec.name]);
    if (!found)
      throw new GatewayError('not_found', {
        message: `${path}: no ${kind} \`${target}\``,
        param: path,
      });
    if (kind === stored.kind)
      await refuseCycle({ definition, stored }, { found: found.stored, path }, deps);
    const key = resourceKey(kind, found.stored.id);
    ops.set(found.stored.id, { type: 'check', key, ifVersion: found.version });
  }
  return [...ops.values()];
}

/** Resources that name `stored`. */
export async function findUsers(
  stored: Stored,
  deps: { definitions: readonly ResourceDefinition[]; list(kind: string): Promise<Stored[]> },
): Promise<Stored[]> {
  const users: Stored[] = [];
  for (const definition of deps.definitions) {
    for (const other of await deps.list(definition.kind)) {
      const names = definition
        .refs(other.spec)
        .some(
          ({ kind, target }) =>
            kind === stored.kind && (target === stored.spec.name || target === stored.id),
        );
      const owns = other.organization !== null && other.organization === stored.id;
      if (names || owns) users.push(other);
    }
  }
  return users;
}

async function refuseCycle(
  { definition, stored }: Referrer,
  { found, path }: { found: Stored; path: string },
  deps: ReferenceDeps,
): Promise<void> {
  const seen = new Set<string>();
  const visit = async (current: Stored, trail: string[]): Promise<void> => {
    if (current.id === stored.id) throw cycle(path, trail);
    if (seen.has(current.id)) return;
    seen.add(current.id);
    for (const { kind, target } of definition.refs(current.spec)) {
      const next = kind === stored.kind ? await deps.load(definition, target) : undefined;
      if (next) await visit(next.stored, [...trail, next.stored.spec.name]);
    }
  };
  await visit(found, [stored.spec.name, found.spec.name]);
}

function cycle(path: string, trail: readonly string[]): GatewayError {
  return new GatewayError('unprocessable', {
    message: `${path}: leads back to itself (${trail.join(' → ')})`,
    param: path,
  });
}
