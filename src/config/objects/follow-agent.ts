import type { ActualState } from '../actual/actual.ts';
import { kindOf, type KindName } from './kinds.ts';
import { LIFECYCLE } from '../actual/lifecycle.ts';
import type { PlanAction } from '../plan/plan-action.ts';
import { ObjectRef } from './references.ts';

type Body = Readonly<Record<string, unknown>>;

const FOLLOWERS: readonly KindName[] = ['service', 'deployment'];

/** Makes an object that refers to an Agent without a version run the newest one. */
export function followAgent(kind: KindName, body: Body): Body {
  const { agent_id: agent, agent_version: version } = body;
  const isFree = version === undefined || version === null;
  if (!FOLLOWERS.includes(kind) || !isFree || !(agent instanceof ObjectRef)) return body;
  if (agent.kind !== 'agent' || agent.field !== 'id') return body;
  return { ...body, agent_version: new ObjectRef('agent', agent.name, 'version') };
}

/** The actual state with the version that an action will make, for what is planned behind it. */
export function withPlannedVersion(actual: ActualState, planned: PlanAction): ActualState {
  const { kind, id, action, changes } = planned;
  const isNew =
    action === 'update' && changes.some(({ field }) => field !== 'labels' && field !== LIFECYCLE);
  if (!isNew || kindOf(kind).definition.versioned !== true) return actual;
  const views = actual[kind].map((view) =>
    view.id === id ? { ...view, version: view.version + 1 } : view,
  );
  return { ...actual, [kind]: views };
}
