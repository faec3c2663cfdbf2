import type { KindName } from './kinds.ts';
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
