import { GatewayError } from '../core/errors.ts';
import type { Catalog, Model } from '../routing/catalog.ts';

const PREFIX = /^\/v1(?:beta)?\/models\//;

/** Decodes the segments behind `/v1beta/models/` or `/v1/models/`, slashes and colons included. */
export function decodeModelPath(path: string): string {
  try {
    return decodeURIComponent(path.replace(PREFIX, ''));
  } catch {
    throw new GatewayError('not_found', { message: 'the path is not valid' });
  }
}

/** A model and what is asked of it, divided by the last colon: names may hold colons themselves. */
export function splitMethod(name: string): { model: string; method: string } {
  const colon = name.lastIndexOf(':');
  return colon < 0
    ? { model: name, method: '' }
    : { model: name.slice(0, colon), method: name.slice(colon + 1) };
}

/** A model, and the name that stands for it in the catalog. */
export interface NamedModel {
  readonly name: string;
  readonly model: Model;
}

/**
 * The catalog's model of that name, with or without `models/` in front, else the one that a bare name
 * means: `<vendor>/{name}` of the vendor with a native mapping, then of one with a translated mapping,
 * then of the vendor that was configured first (decisions: Vendor of a bare Google model).
 */
export function resolveModel(asked: string, catalog: Catalog): NamedModel | undefined {
  const bare = asked.replace(/^models\//, '');
  for (const name of new Set([asked, bare])) {
    const model = catalog.models.get(name);
    if (model) return { name, model };
  }
  let best: Model | undefined;
  for (const model of catalog.withAnyVendor(bare)) if (!best || isBetter(model, best)) best = model;
  return best && { name: best.id, model: best };
}

/** True when requests of generate-content can be served by one of its routes. */
export function servesGenerateContent(model: Model): boolean {
  return fitness(model) > 0;
}

function isBetter(model: Model, other: Model): boolean {
  const [own, others] = [fitness(model), fitness(other)];
  return own === others ? model.resourceId < other.resourceId : own > others;
}

function fitness({ routes }: Model): number {
  if (routes.some(({ protocols }) => protocols.has('generate-content'))) return 2;
  return routes.some(({ mapping }) => mapping === 'translated') ? 1 : 0;
}
