import type { EndpointRules } from '../protocols/define-protocol.ts';
import { PROTOCOL_IDS, PROTOCOLS } from '../protocols/registry.ts';
import type { Protocol } from '../protocols/registry.ts';

/** The way in which providers of each protocol are addressed. */
export const ENDPOINT_RULES = Object.fromEntries(
  PROTOCOL_IDS.map((id) => [id, PROTOCOLS[id].provider]),
) as Readonly<Record<Protocol, EndpointRules>>;
