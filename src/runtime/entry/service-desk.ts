import { GatewayError } from '../../core/errors.ts';
import type { ResolvedAgent } from '../../sessions/resolved-agent.ts';

export type ServiceProtocol = 'rest' | 'mcp' | 'acp';

/** A published Agent, as its entry points need it (contract: Service). */
export interface Service {
  /** `ep_…` */
  readonly id: string;
  readonly organization: string;
  readonly name: string;
  readonly status: 'active' | 'disabled';
  readonly protocols: readonly ServiceProtocol[];
  /** Copied to every Session that the Service makes. */
  readonly sessionMetadata: Readonly<Record<string, string>>;
}

/** Looks Services up; every call sees all earlier commits. */
export interface ServiceDesk {
  /** @throws GatewayError `not_found`, for Services of other organizations too */
  find(organization: string, id: string): Promise<Service>;
  /** Agent that new Sessions of the Service are fixed to. */
  agentOf(service: Service): Promise<ResolvedAgent>;
}

/**
 * The Service, if it may be called by this protocol now (requirements endpoints.run.requires-active,
 * endpoints.run.requires-protocol).
 *
 * @throws GatewayError `not_found`; `conflict` of the type `endpoint_disabled`; `not_found` of the type
 *   `protocol_not_enabled`
 */
export async function openService(
  desk: ServiceDesk,
  { organization, id }: { organization: string; id: string },
  protocol: ServiceProtocol,
): Promise<Service> {
  const service = await desk.find(organization, id);
  if (service.status !== 'active') {
    const message = 'the endpoint is disabled';
    throw new GatewayError('conflict', { message, type: 'endpoint_disabled', retry: false });
  }
  if (!service.protocols.includes(protocol)) {
    const message = `the endpoint does not speak ${protocol}; it speaks ${service.protocols.join(', ')}`;
    throw new GatewayError('not_found', { message, type: 'protocol_not_enabled' });
  }
  return service;
}
