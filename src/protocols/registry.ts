import type { Protocol } from '../core/protocol-id.ts';
import type { CanonicalCodec } from './canonical/codec.ts';
import { chatCodec } from './chat/codec/chat-codec.ts';
import { generateContentCodec } from './generate-content/codec/generate-content-codec.ts';
import { messagesCodec } from './messages/codec/messages-codec.ts';
import { pairLosses } from './canonical/pair-losses.ts';
import type { Wire, WireProtocol } from './protocol.ts';
import { responsesCodec } from './responses/codec/responses-codec.ts';
import { translateBetween } from './canonical/translate.ts';

/** The protocols that can be translated into one another. */
export const CODECS: readonly CanonicalCodec[] = [
  chatCodec,
  responsesCodec,
  messagesCodec,
  generateContentCodec,
];

const WIRES: ReadonlyMap<string, Wire> = new Map(
  CODECS.flatMap((client) =>
    CODECS.filter((provider) => provider !== client).map(
      (provider) => [`${client.id} ${provider.id}`, translateBetween(client, provider)] as const,
    ),
  ),
);

const LOSSES: ReadonlyMap<string, readonly string[]> = new Map(
  CODECS.flatMap((client) =>
    CODECS.filter((provider) => provider !== client).map(
      (provider) =>
        [
          `${client.id} ${provider.id}`,
          [...new Set(pairLosses(client, provider).map(({ field }) => field))],
        ] as const,
    ),
  ),
);

/** The client's names of what is lost between two protocols; nothing within one. */
export function lossesBetween(client: Protocol, provider: Protocol): readonly string[] {
  return LOSSES.get(`${client} ${provider}`) ?? [];
}

/**
 * Returns the wire from a client's protocol to a provider of `protocol`: the client's own is
 * forwarded as it is.
 */
export function wireTo(client: WireProtocol, protocol: Protocol): Wire {
  if (client.id === protocol) return client;
  const wire = WIRES.get(`${client.id} ${protocol}`);
  if (!wire) throw new Error(`${client.id} is not translated to ${protocol}`);
  return wire;
}
