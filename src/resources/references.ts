import { GatewayError } from '../core/errors.ts';
import type { Op, Version } from '../store/store.ts';
import type { ResourceDefinition, Stored } from './define-resource.ts';
import { resourceKey } from './storage-keys.ts';

export interface ReferenceDeps {
  definitionOf(kind: string): ResourceDefinition;
  load(definition: ResourceDefinition, idOrName: string): Promise<Seen | undefined>;
}

interface Seen {
  stored: Stored;
  version: Version;
}

interface Referrer {
  definition: ResourceDefinition;
  stored: Stored;
}

/**
 * Makes sure that everything a resource names exists and that no chain of names of its own kind leads
 * back to it; the operations hold all that was seen until the commit.
 *
 * @throws GatewayError `not_found` (decisions: unknown reference in a body), `unprocessable` for a cycle
 */
export async function checkReferences(referrer: Referrer, deps: ReferenceDeps): Promise<Op[]> {
  const { definition, stored } = referrer;
  const held = new Map<string, Seen>();
  for (const { kind, target, path } of definition.refs(stored.spec)) {
    const isSelf = kind === stored.kind && (target === stored.spec.name || target === stored.id);
    if (isSelf) throw cycle(path, [stored.spec.name, stored.spec.name]);
    const found = await deps.load(deps.definitionOf(kind), target);
    if (!found) {
      const message = `${path}: no ${kind} \`${target}\``;
      throw new GatewayError('not_found', { message, param: path });
    }
    if (kind === stored.kind) await refuseCycle(referrer, { start: found, path, held }, deps);
    else held.set(found.stored.id, found);
  }
  return [...held.values()].map(({ stored: { kind, id }, version }) => ({
    type: 'check',
    key: resourceKey(kind, id),
    ifVersion: version,
  }));
}

/** Resources that refer to one of `kind` by one of `names`. */
export async function findUsers(
  kind: string,
  names: readonly string[],
  deps: { definitions: readonly ResourceDefinition[]; list(kind: string): Promise<Stored[]> },
): Promise<Stored[]> {
  const users: Stored[] = [];
  for (const definition of deps.definitions) {
    for (const other of await deps.list(definition.kind)) {
      const refs = definition.refs(other.spec);
      if (refs.some((ref) => ref.kind === kind && names.includes(ref.target))) users.push(other);
    }
  }
  return users;
}

/** Holds every link of the chain: two changes that close a cycle together must not both pass. */
async function refuseCycle(
  { definition, stored }: Referrer,
  { start, path, held }: { start: Seen; path: string; held: Map<string, Seen> },
  deps: ReferenceDeps,
): Promise<void> {
  const visit = async (current: Seen, trail: string[]): Promise<void> => {
    if (current.stored.id === stored.id) throw cycle(path, trail);
    if (held.has(current.stored.id)) return;
    held.set(current.stored.id, current);
    for (const { kind, target } of definition.refs(current.stored.spec)) {
      const next = kind === stored.kind ? await deps.load(definition, target) : undefined;
      if (next) await visit(next, [...trail, next.stored.spec.name]);
    }
  };
  await visit(start, [stored.spec.name, start.stored.spec.name]);
}

function cycle(path: string, trail: readonly string[]): GatewayError {
  return new GatewayError('unprocessable', {
    message: `${path}: leads back to itself (${trail.join(' → ')})`,
    param: path,
  });
}
