import type { Protocol } from '../protocols/registry.ts';
import { capabilitiesOf, decidedBy } from '../protocols/capabilities/capabilities-of.ts';
import type { DecidedBy } from '../protocols/capabilities/capabilities-of.ts';
import type { Capabilities } from '../protocols/capabilities/capabilities.ts';
import type { Model, Route } from './catalog.ts';
import { needsMapping, planCandidates, protocolWithTools } from './plan.ts';
import type { PlanRequest } from './plan.ts';
import { toPricingView } from './resolve-pricing.ts';
import type { PricingView } from './resolve-pricing.ts';

/** One route of the answer to: where would a request go now, and why. */
export interface PlanLine {
  /** The logical model, another than the one asked for after a fallback. */
  model: string;
  provider: string;
  upstream_model: string;
  /** Protocol that the provider would be spoken to in; null for a route that is left out. */
  protocol: Protocol | null;
  priority: number;
  weight: number;
  /**
   * Share of requests in which it is the first of its priority, 0 to 1; null where the order is no
   * draw.
   */
  share: number | null;
  health: {
    state: 'available' | 'cooled' | 'probing';
    /** ISO 8601; null unless it is cooled. */
    until: string | null;
    consecutive_faults: number;
    /** Smoothed time to the first content in ms; null where none came lately. */
    latency_ms: number | null;
  };
  /** Prices of the route; each null: unknown. */
  pricing: PricingView;
  /** Capabilities of its model for translated requests; null for a route that is left out. */
  capabilities: Capabilities | null;
  /**
   * Rule that decided each of them: the address of its page, `provider` for the type of the provider,
   * or `route`; those that nothing states are absent. Null for a route that is left out.
   */
  decided_by: DecidedBy | null;
  /** Reason in words, for people. */
  why: string;
}

export interface PlanExplanation {
  model: string;
  strategy: Model['strategy'];
  /** Candidates as they would be tried; draws by weight are shown in their most likely order. */
  candidates: PlanLine[];
  left_out: PlanLine[];
}

/** Explains the plan of this moment without spending a draw (requirement routing: explain). */
export function explainPlan(request: Omit<PlanRequest, 'random'>): PlanExplanation {
  const { model, health } = request;
  const plan = planCandidates({ ...request, random: () => 0.5 });
  return {
    model: model.id,
    strategy: model.strategy,
    candidates: plan.candidates.map((candidate) => ({
      ...toLine(candidate, health),
      protocol: candidate.protocol,
      capabilities: capabilitiesOf(
        candidate.protocol,
        candidate.route.upstreamModel,
        candidate.route.capabilities,
      ),
      decided_by: decidedBy(candidate.protocol, candidate.route.upstreamModel, {
        provider: candidate.route.provider.definition.id,
        type: candidate.route.provider.definition.capabilities ?? {},
        route: candidate.route.declared,
      }),
      why: reasonsOf(candidate, request).join('; '),
    })),
    left_out: plan.skipped
      .filter(({ reason }) => reason === 'protocol')
      .map((skipped) => ({
        ...toLine(skipped, health),
        protocol: null,
        capabilities: null,
        decided_by: null,
        why: leftOutBecause(skipped.route, request),
      })),
  };
}

function toLine(
  { model, route }: { model: Model; route: Route },
  health: PlanRequest['health'],
): Omit<PlanLine, 'protocol' | 'capabilities' | 'decided_by' | 'why'> {
  const { state, until, consecutiveFaults, latencyMs } = health.look(route);
  return {
    model: model.id,
    provider: route.provider.name,
    upstream_model: route.upstreamModel,
    priority: route.priority,
    weight: route.weight,
    share: shareOf(route, model),
    health: {
      state,
      until: until === undefined ? null : new Date(until).toISOString(),
      consecutive_faults: consecutiveFaults,
      latency_ms: latencyMs === undefined ? null : Math.round(latencyMs),
    },
    pricing: toPricingView(route.pricing),
  };
}

function reasonsOf(
  { model, route, protocol }: { model: Model; route: Route; protocol: Protocol },
  request: Omit<PlanRequest, 'random'>,
): string[] {
  const { state } = request.health.look(route);
  const reasons: string[] = [];
  if (model !== request.model) reasons.push(`fallback model of ${request.model.id}`);
  reasons.push(`priority ${route.priority}${ORDERED[model.strategy](route, model)}`);
  if (protocol !== request.client.id) reasons.push(`translated from ${request.client.id}`);
  const other = protocolWithTools(route, request.client);
  if (other) reasons.push(`with function tools and reasoning translated to ${other}`);
  if (route.provider.auth.type === 'client') reasons.push("with the client's own credential");
  if (state === 'cooled') reasons.push('cooled down, so behind all others');
  if (state === 'probing') reasons.push('on trial after a cooldown, so behind all others');
  return reasons;
}

const ORDERED: Record<Model['strategy'], (route: Route, model: Model) => string> = {
  priority: (route, model) => drawn(route, model, 'drawn by weight'),
  sticky: (route, model) => drawn(route, model, 'the same one for the same key, by weight'),
  least_latency: (route, model) =>
    isAlone(route, model) ? '' : ', the fastest first, one that was not measured lately before all',
};

function drawn(route: Route, model: Model, how: string): string {
  const share = shareOf(route, model);
  return share === null ? '' : `, ${how} (${Math.round(share * 100)} %)`;
}

function shareOf(route: Route, model: Model): number | null {
  if (model.strategy === 'least_latency' || isAlone(route, model)) return null;
  const total = peersOf(route, model).reduce((sum, { weight }) => sum + weight, 0);
  return route.weight / total;
}

function isAlone(route: Route, model: Model): boolean {
  return peersOf(route, model).length < 2;
}

function peersOf({ priority }: Route, { routes }: Model): Route[] {
  return routes.filter((one) => one.priority === priority);
}

function leftOutBecause(route: Route, { client }: Omit<PlanRequest, 'random'>): string {
  const spoken = [...route.protocols].join(', ') || 'nothing';
  const hint = needsMapping(route, client)
    ? '; `mapping: translated` on the route would let it serve'
    : '';
  return `speaks ${spoken}, which ${client.id} is not served by${hint}`;
}
