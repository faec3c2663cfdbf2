import type { CanonicalCodec } from './canonical/codec.ts';
import { pairLosses } from './canonical/pair-losses.ts';
import { translateBetween } from './canonical/translate.ts';
import type { ProtocolParts } from './protocol-parts.ts';
import type { Translation, WireProtocol } from './protocol.ts';
import { PROTOCOLS } from './registry.ts';
import type { Protocol } from './registry.ts';
import type { InferenceSurface } from './surface.ts';

/** The protocols of the registry at work, each with its translations into all others that have a codec. */
export interface SpokenProtocols {
  readonly wires: Readonly<Record<Protocol, WireProtocol>>;
  /** The same in the order of the registry. */
  readonly clients: readonly WireProtocol[];
  /** Protocols that can be translated into one another. */
  readonly codecs: readonly CanonicalCodec[];
  /** Endpoints that the protocols declare. */
  readonly surfaces: readonly InferenceSurface[];
}

/** Loads every protocol. */
export async function loadProtocols(): Promise<SpokenProtocols> {
  const parts: ProtocolParts[] = await Promise.all(
    Object.values(PROTOCOLS).map(({ load }) => load()),
  );
  const codecs = parts.flatMap(({ codec }) => codec ?? []);
  const spoken = parts.map((part) => ({ ...part, wire: withTranslations(part, codecs) }));
  return {
    wires: Object.fromEntries(spoken.map(({ wire }) => [wire.id, wire])) as Record<
      Protocol,
      WireProtocol
    >,
    clients: spoken.map(({ wire }) => wire),
    codecs,
    surfaces: spoken.flatMap(({ wire, surfaces }) => surfaces?.(wire) ?? []),
  };
}

/** The protocol with its way into each other one: first those that it names, then the rest. */
function withTranslations(
  { wire, codec }: ProtocolParts,
  codecs: readonly CanonicalCodec[],
): WireProtocol {
  if (!codec) return wire;
  const translations = new Map<Protocol, Translation>();
  for (const other of codecs) {
    if (other === codec) continue;
    const losses = new Set(pairLosses(codec, other).map(({ field }) => field));
    translations.set(other.id, { wire: translateBetween(codec, other), losses: [...losses] });
  }
  const translatesTo = [...new Set([...(wire.translatesTo ?? []), ...translations.keys()])];
  return { ...wire, translatesTo, translations };
}
