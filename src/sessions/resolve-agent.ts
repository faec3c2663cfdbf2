import { z } from 'zod';
import { GatewayError } from '../core/errors.ts';
import { agent } from '../resources/kinds/agent.ts';
import { agentParts, checkAgentParts } from '../resources/kinds/agent-fields.ts';
import type { AgentParts, OperatorNames } from '../resources/kinds/agent-fields.ts';
import { isArchived } from '../resources/store/stored.ts';
import type { Stored } from '../resources/store/stored.ts';
import { parseFields } from '../resources/fields/parse-body.ts';
import { pinSkills } from '../resources/skills/pin-skills.ts';
import type { Repository } from '../resources/store/repository.ts';
import type { ResolvedAgent } from './resolved-agent.ts';

/**
 * Source of a Session's Agent: an Agent, by default as it is now, or the runtime of a declarative
 * Service.
 */
export type AgentSource =
  | { readonly agentId: string; readonly version?: number | undefined }
  | { readonly name: string; readonly runtime: Readonly<Record<string, unknown>> };

export interface AgentOverrides {
  /** Members in place of the Agent's own; null clears one. Anything but {@link OVERRIDES} is refused. */
  readonly overrides?: Readonly<Record<string, unknown>> | undefined;
  /** Path of the overrides in the request, for messages: `agent.`. */
  readonly prefix?: string;
  /** Overrides may name nothing else of the operator's. Default: not judged. */
  readonly operator?: OperatorNames;
}

const OVERRIDES = ['model', 'system', 'tools', 'mcp_servers', 'skills'] as const;
const parts = z.object(agentParts());

/**
 * The definition that turns are run by, overrides applied and Skills pinned.
 *
 * @throws GatewayError `not_found` for an unknown or foreign Agent, version or Skill; `conflict` for
 *   an archived Agent; `invalid_request` and `unprocessable` for overrides that make no Agent
 */
export async function resolveAgent(
  repository: Repository,
  organization: string,
  { overrides, prefix = '', operator, ...source }: AgentSource & AgentOverrides,
): Promise<ResolvedAgent> {
  const resolved =
    'runtime' in source
      ? fromParts(source.runtime as AgentParts, { id: null, version: null, name: source.name })
      : fromStored(await load(repository, organization, source));
  if (!overrides) return resolved;
  const foreign = Object.keys(overrides).find((one) => !OVERRIDES.some((known) => known === one));
  if (foreign !== undefined) {
    const param = `${prefix}${foreign}`;
    const message = `${param}: only ${OVERRIDES.join(', ')} can be overridden`;
    throw new GatewayError('invalid_request', { message, param });
  }
  const given = parseFields(parts, { ...partsOf(resolved), ...overrides }, prefix) as AgentParts;
  checkAgentParts(given, prefix, operator);
  const lookup = repository.lookupIn(organization);
  const former = resolved.skills as AgentParts['skills'];
  const skills = await pinSkills(given.skills, lookup, { former, prefix });
  return fromParts({ ...given, skills }, resolved);
}

async function load(
  repository: Repository,
  organization: string,
  { agentId, version }: { agentId: string; version?: number | undefined },
): Promise<Stored> {
  const definition = repository.definitionOf(agent.kind);
  const stored = await repository.get(definition, agentId, { organization });
  if (isArchived(stored)) {
    const message = `agent ${agentId} is archived`;
    throw new GatewayError('conflict', { message, type: 'agent_archived', retry: false });
  }
  const found = version === undefined ? stored : await repository.version(stored, version);
  if (found) return found;
  const message = `agent ${agentId} has no version ${version}`;
  throw new GatewayError('not_found', { message });
}

function fromStored({ id, version, spec }: Stored): ResolvedAgent {
  const description = spec['description'] as string | null;
  return fromParts(spec as unknown as AgentParts, { id, version, name: spec.name, description });
}

type Identity = Pick<ResolvedAgent, 'id' | 'version' | 'name'> & { description?: string | null };

function fromParts(given: AgentParts, { id, version, name, description }: Identity): ResolvedAgent {
  const { model, system, tools, mcp_servers, skills, harness } = given;
  return {
    id,
    version,
    name,
    description: description ?? null,
    model,
    system,
    tools,
    mcp_servers,
    skills: skills as ResolvedAgent['skills'],
    harness,
  };
}

function partsOf(resolved: ResolvedAgent): Record<string, unknown> {
  const { model, system, tools, mcp_servers, skills, harness } = resolved;
  return { model, system, tools, mcp_servers, skills, harness };
}
