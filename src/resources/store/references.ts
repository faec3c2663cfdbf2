import { GatewayError } from '../../core/errors.ts';
import type { Op, Version } from '../../store/store.ts';
import { isArchived } from './stored.ts';
import type { Stored } from './stored.ts';
import type { Reference, ResourceDefinition } from './define-resource.ts';
import { resourceKey } from './storage-keys.ts';

/** Resources that were seen, by id; all of it stays unchanged until the commit. */
export type Holds = Map<string, Seen>;

export interface ReferenceDeps {
  holds: Holds;
  definitionOf(kind: string): ResourceDefinition;
  /** Among those of the referrer's organization. */
  load(definition: ResourceDefinition, idOrName: string): Promise<Seen | undefined>;
}

interface Seen {
  stored: Stored;
  version: Version;
}

interface Referrer {
  definition: ResourceDefinition;
  stored: Stored;
  /** Former state; its references may have been archived since. */
  before?: Stored;
}

/**
 * Makes sure that everything a resource names exists and that no chain of names of its own kind leads
 * back to it; the operations hold all that was seen until the commit.
 *
 * @throws GatewayError `not_found` (decisions: unknown reference in a body), `conflict` for an
 *   archived one, `unprocessable` for a cycle
 */
export async function checkReferences(referrer: Referrer, deps: ReferenceDeps): Promise<Op[]> {
  const { definition, stored, before } = referrer;
  const { holds } = deps;
  const former = before ? definition.refs(before.spec) : [];
  for (const reference of definition.refs(stored.spec)) {
    const { kind, target, path } = reference;
    refuseDownward(definition, deps.definitionOf(kind));
    const isSelf = kind === stored.kind && (target === stored.spec.name || target === stored.id);
    if (isSelf) throw cycle(path, [stored.spec.name, stored.spec.name]);
    const isKept = former.some((ref) => ref.kind === kind && ref.target === target);
    if (kind !== stored.kind) await seeReference(reference, deps, isKept);
    else {
      const start = await load(reference, deps);
      await refuseCycle(referrer, { start, path, held: holds }, deps);
    }
  }
  return [...holds.values()].map(({ stored: { kind, id }, version }) => ({
    type: 'check',
    key: resourceKey(kind, id),
    ifVersion: version,
  }));
}

/** Keeps a mistake in a definition from going unseen: see `Referrers`. */
function refuseDownward(referrer: ResourceDefinition, target: ResourceDefinition): void {
  if (!referrer.organizationScoped || target.organizationScoped) return;
  if (target.kind === 'organization') return;
  throw new Error(`${referrer.kind} belongs to organizations and cannot refer to ${target.kind}`);
}

/**
 * Finds the named resource and holds it.
 *
 * @throws GatewayError `not_found`; `conflict` for an archived one, unless it `isKept`
 */
export async function seeReference(
  reference: Reference,
  deps: ReferenceDeps,
  isKept = false,
): Promise<Seen> {
  const found = await load(reference, deps);
  const { id } = found.stored;
  if (isArchived(found.stored) && !isKept) {
    const { kind, path } = reference;
    const message = `${path}: ${kind} ${id} is archived`;
    throw new GatewayError('conflict', {
      message,
      type: `${kind}_archived`,
      param: path,
      retry: false,
    });
  }
  // The first look decides: what changed since then is found out at the commit.
  const held = deps.holds.get(id) ?? found;
  deps.holds.set(id, held);
  return held;
}

async function load({ kind, target, path }: Reference, deps: ReferenceDeps): Promise<Seen> {
  const found = await deps.load(deps.definitionOf(kind), target);
  if (found) return found;
  const message = `${path}: no ${kind} \`${target}\``;
  throw new GatewayError('not_found', { message, param: path });
}

/** Holds every link of the chain: two changes that close a cycle together must not both pass. */
async function refuseCycle(
  { definition, stored }: Referrer,
  { start, path, held }: { start: Seen; path: string; held: Holds },
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
