import { loadProtocols } from '../../src/protocols/load-protocols.ts';
import type { Wire, WireProtocol } from '../../src/protocols/protocol.ts';
import type { Protocol } from '../../src/protocols/registry.ts';
import { wireTo as wireOf } from '../../src/protocols/wire-to.ts';

/** Protocols of the registry at work. */
export const SPOKEN = await loadProtocols();
export const CODECS = SPOKEN.codecs;
export const CLIENT_PROTOCOLS = SPOKEN.clients;

/** Way of a client of the protocol to a provider of another, or of the same. */
export function wireTo({ id }: Pick<WireProtocol, 'id'>, provider: Protocol): Wire {
  return wireOf(SPOKEN.wires[id], provider);
}

/** The client's names of what is lost between two protocols. */
export function lossesBetween(client: Protocol, provider: Protocol): readonly string[] {
  return SPOKEN.wires[client].translations?.get(provider)?.losses ?? [];
}
