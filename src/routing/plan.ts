import type { AskedService } from '../core/usage.ts';
import { capabilitiesOf } from '../protocols/capabilities/capabilities-of.ts';
import { protocolForTools } from '../protocols/capabilities/tools-protocol.ts';
import type { ToolsRequest } from '../protocols/capabilities/tools-protocol.ts';
import type { Protocol } from '../protocols/registry.ts';
import type { WireProtocol } from '../protocols/protocol.ts';
import { pricesAsked } from '../usage/spend/pricing.ts';
import type { Catalog, Model, Route, Strategy } from './catalog.ts';
import type { AnswerForm, Health } from './health.ts';

export interface Candidate {
  /** Protocol that the provider is spoken to in: the client's, or one that it is translated to. */
  readonly protocol: Protocol;
  /** The logical model that the route belongs to; another than the one asked for after a fallback. */
  readonly model: Model;
  readonly route: Route;
}

export interface SkippedRoute {
  readonly model: Model;
  readonly route: Route;
  /**
   * `protocol`: does not speak it; `unpriced`: its price is unknown and a limit needs it; `cooldown`,
   * `probing`: not tried while another is available.
   */
  readonly reason: 'protocol' | 'unpriced' | 'cooldown' | 'probing';
}

export interface Plan {
  /** Candidates in the order in which they are tried. */
  readonly candidates: readonly Candidate[];
  /** Routes that are not at the front of the order, with their reasons. */
  readonly skipped: readonly SkippedRoute[];
}

/** The part of the client's protocol that decides which routes can serve it. */
export type ClientProtocol = Pick<
  WireProtocol,
  'id' | 'translatesTo' | 'translatedWhenMapped' | 'toolsRequest'
>;

export interface PlanRequest {
  catalog: Catalog;
  model: Model;
  client: ClientProtocol;
  /** The only account that may serve the request; the others are left out. Default: any. */
  account?: string | undefined;
  /** True: a route without a known price is left out. Default false. */
  needsPrice?: boolean | undefined;
  /** Function tools of the request. Default: none. */
  tools?: (() => ToolsRequest | undefined) | undefined;
  /** Tools and ways of service with prices of their own. Default: none. */
  asks?: AskedService | undefined;
  health: Pick<Health, 'look'>;
  /** Uniform in [0, 1). */
  random: () => number;
  /** Value by which a sticky model keeps requests together that name no conversation: the key. */
  affinity: string;
  /**
   * Value by which routes of one priority keep requests together, so that a provider finds the prompt in its
   * cache. Default: none. Routes by latency only go by that.
   */
  conversation?: string | undefined;
  /** Form of the answer that is asked for, whose latency counts. Default: any. */
  form?: AnswerForm;
  /** False for a fallback model that the caller may not use. Default: all may be used. */
  allows?: (model: Model) => boolean;
}

/**
 * Orders the candidates of a model: by priority, within one priority by the model's strategy, then
 * those of its fallback models. Cooled candidates go last: they get no traffic while another is left.
 */
export function planCandidates(request: PlanRequest): Plan {
  const ready: Candidate[] = [];
  const cooled: Candidate[] = [];
  const skipped: SkippedRoute[] = [];
  for (const model of withFallbacks(request.catalog, request.model)) {
    if (model !== request.model && request.allows?.(model) === false) continue;
    for (const route of orderRoutes(model, request)) {
      const protocol = protocolFor(route, request.client, request.tools);
      if (protocol === undefined) {
        skipped.push({ model, route, reason: 'protocol' });
        continue;
      }
      if (request.account !== undefined && route.provider.id !== request.account) continue;
      // A provider of another protocol is asked for no tools and ways of service of the client's.
      const asks = protocol === request.client.id ? request.asks : undefined;
      if (request.needsPrice && !pricesAsked(route.pricing, asks ?? {})) {
        skipped.push({ model, route, reason: 'unpriced' });
        continue;
      }
      const { state } = request.health.look(route);
      if (state === 'available') ready.push({ protocol, model, route });
      else {
        cooled.push({ protocol, model, route });
        skipped.push({ model, route, reason: state === 'cooled' ? 'cooldown' : 'probing' });
      }
    }
  }
  return { candidates: cooled.length === 0 ? ready : [...ready, ...cooled], skipped };
}

/**
 * The client's own protocol where the provider speaks it and takes the request's tools in it, else the
 * most faithful that it is translated to. Some are translated only where the route says so (contract:
 * Generate-content protocol).
 *
 * @param tools of the request; asked for where the model has such a rule
 */
export function protocolFor(
  route: Route,
  client: ClientProtocol,
  tools?: PlanRequest['tools'],
): Protocol | undefined {
  if (route.protocols.has(client.id)) return protocolOfTools(route, client, tools) ?? client.id;
  if (needsMapping(route, client)) return undefined;
  return client.translatesTo?.find((one) => route.protocols.has(one));
}

/**
 * The protocol of requests with function tools and reasoning where it is another one than that of the
 * rest.
 */
export function protocolWithTools(route: Route, client: ClientProtocol): Protocol | undefined {
  if (!client.toolsRequest) return undefined;
  const protocol = protocolFor(route, client, () => ({ effort: 'high' }));
  return protocol === protocolFor(route, client) ? undefined : protocol;
}

/** Undefined where the provider takes the tools in the client's protocol, or in none of the route. */
function protocolOfTools(
  route: Route,
  client: ClientProtocol,
  tools: PlanRequest['tools'],
): Protocol | undefined {
  const { tools_with_reasoning: only } = route.capabilities;
  const asked = only && only !== client.id ? tools?.() : undefined;
  if (!asked) return undefined;
  const takes = capabilitiesOf(client.id, route.upstreamModel, route.capabilities);
  const other = protocolForTools(asked, takes, client.id);
  const isServed = other && route.protocols.has(other) && client.translatesTo?.includes(other);
  return isServed ? other : undefined;
}

/** True when `mapping: translated` on the route would let it serve the client's protocol. */
export function needsMapping(
  { mapping }: Route,
  { translatedWhenMapped = false }: ClientProtocol,
): boolean {
  return translatedWhenMapped && mapping !== 'translated';
}

/** The model, then its fallbacks depth first, each once. */
function withFallbacks(catalog: Catalog, model: Model): Iterable<Model> {
  if (model.fallbacks.length === 0) return [model];
  const found = new Set<Model>();
  const visit = (next: Model): void => {
    if (found.has(next)) return;
    found.add(next);
    for (const name of next.fallbacks) {
      const fallback = catalog.models.get(name);
      if (fallback) visit(fallback);
    }
  };
  visit(model);
  return found;
}

function orderRoutes(model: Model, request: PlanRequest): readonly Route[] {
  if (model.routes.length < 2) return model.routes;
  const byPriority = new Map<number, Route[]>();
  for (const route of model.routes) {
    const group = byPriority.get(route.priority);
    if (group) group.push(route);
    else byPriority.set(route.priority, [route]);
  }
  const priorities = [...byPriority.keys()].sort((a, b) => a - b);
  return priorities.flatMap((priority) =>
    orderGroup(byPriority.get(priority) ?? [], model, request),
  );
}

function orderGroup(group: Route[], model: Model, request: PlanRequest): Route[] {
  if (group.length < 2) return group;
  return byRank(group, RANKS[model.strategy](request));
}

/** Higher ranks are tried first. */
const RANKS: Record<Strategy, (request: PlanRequest) => (route: Route) => number> = {
  priority: ({ conversation, random }) =>
    conversation === undefined
      ? (route) => weightedRank(random(), route.weight)
      : steadyRank(conversation),
  sticky: ({ conversation, affinity }) => steadyRank(conversation ?? affinity),
  // A candidate that was not measured lately goes first, so that it gets measured.
  least_latency:
    ({ health, form }) =>
    (route) =>
      -(health.look(route, form).latencyMs ?? -1),
};

const steadyRank =
  (value: string) =>
  (route: Route): number =>
    weightedRank(unitHash(`${value}\n${route.id}`), route.weight);

function byRank(group: Route[], rank: (route: Route) => number): Route[] {
  return group
    .map((route) => ({ route, rank: rank(route) }))
    .sort((a, b) => b.rank - a.rank)
    .map(({ route }) => route);
}

/**
 * Efraimidis-Spirakis: sorting by u^(1/w) draws without replacement in proportion to the weights;
 * with a hash for u it is weighted rendezvous hashing.
 */
function weightedRank(uniform: number, weight: number): number {
  return Math.log(Math.max(uniform, Number.MIN_VALUE)) / weight;
}

/** FNV-1a with a final avalanche (murmur3), as a fraction in [0, 1). */
function unitHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
