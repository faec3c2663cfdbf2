import type { Protocol } from '../core/protocol-id.ts';
import { lossesBetween } from '../protocols/registry.ts';
import type { WireProtocol } from '../protocols/protocol.ts';
import type { Model } from '../routing/catalog.ts';
import { protocolFor } from '../routing/plan.ts';

/** How a model answers clients of one protocol by one kind of provider. */
export interface ServedProtocol {
  /** What the provider speaks. */
  provider_protocol: Protocol;
  /** False: forwarded as it is. */
  translated: boolean;
  /** The client's names of fields that this provider cannot be told or cannot answer. */
  loses: string[];
}

/**
 * The protocols in which clients can call a model, each with the ways it is served, the first route's
 * first (requirement routing.translation.pairs). A protocol that no route serves is absent.
 */
export function servedProtocols(
  { routes }: Model,
  clients: readonly WireProtocol[],
): Partial<Record<Protocol, ServedProtocol[]>> {
  const served: Partial<Record<Protocol, ServedProtocol[]>> = {};
  for (const { id, translatesTo } of clients) {
    const spoken = routes.map((route) => protocolFor(route, { protocol: id, translatesTo }));
    const ways = [...new Set(spoken.filter((one) => one !== undefined))];
    if (ways.length === 0) continue;
    served[id] = ways.map((way) => ({
      provider_protocol: way,
      translated: way !== id,
      loses: [...lossesBetween(id, way)],
    }));
  }
  return served;
}
