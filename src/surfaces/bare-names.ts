import type { Protocol } from '../protocols/registry.ts';
import type { Catalog, Model } from '../routing/catalog.ts';

/** A model, and its name in the catalog. */
export interface NamedModel {
  readonly name: string;
  readonly model: Model;
}

/**
 * The catalog's model of that name, with or without `models/` in front, else the one that a bare name
 * means: `<vendor>/{name}` of the vendor with a native mapping, then of one with a translated mapping,
 * then of the vendor that was configured first (decisions: Vendor of a bare Google model).
 */
export function resolveBareName(
  asked: string,
  protocol: Protocol,
  catalog: Catalog,
): NamedModel | undefined {
  const bare = asked.replace(/^models\//, '');
  for (const name of new Set([asked, bare])) {
    const model = catalog.models.get(name);
    if (model) return { name, model };
  }
  let best: Model | undefined;
  for (const model of catalog.withAnyVendor(bare))
    if (!best || isBetter(model, best, protocol)) best = model;
  return best && { name: best.id, model: best };
}

/** True when requests of the protocol can be served by one of its routes. */
export function isServed(model: Model, protocol: Protocol): boolean {
  return fitness(model, protocol) > 0;
}

function isBetter(model: Model, other: Model, protocol: Protocol): boolean {
  const [own, others] = [fitness(model, protocol), fitness(other, protocol)];
  return own === others ? model.resourceId < other.resourceId : own > others;
}

function fitness({ routes }: Model, protocol: Protocol): number {
  if (routes.some(({ protocols }) => protocols.has(protocol))) return 2;
  return routes.some(({ mapping }) => mapping === 'translated') ? 1 : 0;
}
