import type { Wire, WireProtocol } from './protocol.ts';
import type { Protocol } from './registry.ts';

/**
 * Returns the wire from a client's protocol to a provider of `protocol`: the client's own is
 * forwarded as it is.
 */
export function wireTo(client: WireProtocol, protocol: Protocol): Wire {
  if (client.id === protocol) return client;
  const translation = client.translations?.get(protocol);
  if (!translation) throw new Error(`${client.id} is not translated to ${protocol}`);
  return translation.wire;
}
