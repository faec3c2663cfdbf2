import type { Protocol } from '../protocols/registry.ts';
import { capabilitiesOf } from '../protocols/capabilities/capabilities-of.ts';
import type { Capabilities } from '../protocols/capabilities/capabilities.ts';
import type { WireProtocol } from '../protocols/protocol.ts';
import type { Model } from '../routing/catalog.ts';
import { protocolFor, protocolWithTools } from '../routing/plan.ts';

/** Way in which a model answers clients of one protocol by one kind of provider. */
export interface ServedProtocol {
  /** Protocol of the provider. */
  provider_protocol: Protocol;
  /** False: forwarded as it is. */
  translated: boolean;
  /** Present: the way of requests with function tools and reasoning, which their own way refuses. */
  tools_with_reasoning?: true;
  /** The client's names of fields that this provider cannot take or cannot answer. */
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
  for (const client of clients) {
    const { id } = client;
    const spoken = routes.map((route) => protocolFor(route, client));
    const plain = new Set(spoken);
    const tools = routes.map((route) => protocolWithTools(route, client));
    const ways = [...new Set([...spoken, ...tools])].filter((one) => one !== undefined);
    if (ways.length === 0) continue;
    served[id] = ways.map((way) => ({
      provider_protocol: way,
      translated: way !== id,
      loses: [...(client.translations?.get(way)?.losses ?? [])],
      ...(!plain.has(way) && { tools_with_reasoning: true }),
    }));
  }
  return served;
}

/**
 * Lists the capabilities of each route's upstream model for translated requests, by its provider's
 * protocol, in the order of the routes. Protocols that nothing is translated to are absent.
 */
export function routeCapabilities(
  { routes }: Model,
  clients: readonly WireProtocol[],
): { capabilities: Partial<Record<Protocol, Capabilities>> }[] {
  const translated = clients.filter(({ translations }) => translations);
  return routes.map(({ protocols, upstreamModel, capabilities }) => ({
    capabilities: Object.fromEntries(
      translated
        .filter(({ id }) => protocols.has(id))
        .map(({ id }) => [id, capabilitiesOf(id, upstreamModel, capabilities)]),
    ),
  }));
}
