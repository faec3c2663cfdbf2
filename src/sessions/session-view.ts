import { knownCost, toShownCost } from '../usage/usage.ts';
import type { ResolvedAgent } from './resolved-agent.ts';
import { toMonetaryAmount } from './session-budget.ts';
import type { Session } from './session.ts';

/**
 * View of a Session in the API: every member of the official type (requirement
 * sessions.object.shape).
 */
export function toSessionView(session: Session, now: number): Record<string, unknown> {
  const { usage, activeMs, runningSince, createdAt, updatedAt, status } = session;
  const until = status === 'terminated' ? Date.parse(updatedAt) : now;
  const running = runningSince == null ? 0 : Math.max(0, now - runningSince);
  const active_seconds = (activeMs + running) / 1_000;
  return {
    id: session.id,
    type: 'session',
    status,
    title: session.title,
    agent: toAgentView(session.agent),
    environment_id: session.environmentId,
    metadata: session.metadata,
    resources: session.resources,
    vault_ids: session.vaultIds,
    outcome_evaluations: [],
    stats: {
      active_seconds,
      duration_seconds: Math.max(0, until - Date.parse(createdAt)) / 1_000,
      turns: session.turns ?? null,
    },
    usage: {
      ...usage,
      active_seconds,
      list_cost: toMonetaryAmount(session.cost),
      cost: toShownCost(knownCost(session)),
    },
    budget: session.budget,
    deployment_id: session.deploymentId,
    endpoint_id: session.endpointId,
    entry_point: session.entryPoint,
    created_at: createdAt,
    updated_at: updatedAt,
    archived_at: session.archivedAt,
    ...(session.removed && { events_removed_at: session.removed.at }),
  };
}

/** The snapshot of an Agent within a Session. */
export function toAgentView(agent: ResolvedAgent): Record<string, unknown> {
  return {
    id: agent.id,
    type: 'agent',
    version: agent.version,
    name: agent.name,
    description: agent.description,
    model: agent.model,
    system: agent.system,
    tools: agent.tools,
    mcp_servers: agent.mcp_servers,
    skills: agent.skills,
    harness: agent.harness,
    multiagent: null,
    execution_identity: { type: 'service_account' },
  };
}
