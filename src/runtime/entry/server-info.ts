import type { Service } from './service-desk.ts';

/** Version of the interface that Services offer (contract: Versioning). */
const INTERFACE_VERSION = '1.0.0';

/** Describes a Service to clients of MCP and ACP. */
export function serverInfo({ name: title }: Service) {
  return { name: 'agent-gateway', title, version: INTERFACE_VERSION };
}
