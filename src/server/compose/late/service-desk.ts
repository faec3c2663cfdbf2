import type { Stored } from '../../../resources/store/stored.ts';
import { service } from '../../../resources/kinds/service.ts';
import type { Repository } from '../../../resources/store/repository.ts';
import type { Service, ServiceDesk, ServiceProtocol } from '../../../runtime/entry/service-desk.ts';
import { resolveAgent } from '../../../sessions/resolve-agent.ts';
import type { AgentSource } from '../../../sessions/resolve-agent.ts';

/** Services as the resources have them at the moment of each call. */
export function createServiceDesk(repository: Repository): ServiceDesk {
  const definition = repository.definitionOf(service.kind);
  const find = (organization: string, id: string): Promise<Stored> =>
    repository.get(definition, id, { organization });
  return {
    find: async (organization, id) => toService(await find(organization, id), organization),
    async agentOf({ organization, id }) {
      const { spec } = await find(organization, id);
      return resolveAgent(repository, organization, sourceOf(spec));
    },
  };
}

function toService({ id, spec }: Stored, organization: string): Service {
  return {
    id,
    organization,
    name: spec.name,
    status: spec['status'] as Service['status'],
    protocols: spec['protocols'] as ServiceProtocol[],
    sessionMetadata: spec['session_metadata'] as Record<string, string>,
  };
}

function sourceOf(spec: Stored['spec']): AgentSource {
  const { runtime, agent_id: agentId, agent_version: version } = spec;
  if (runtime !== null)
    return { name: spec.name, runtime: runtime as Readonly<Record<string, unknown>> };
  return { agentId: String(agentId), version: Number(version) };
}
