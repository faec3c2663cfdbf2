import type { CanonicalCodec } from './codec.ts';
import type { Feature, FeatureFields } from '../features.ts';

/** A field that a client may send and that does not reach a provider of another protocol. */
export interface PairLoss {
  readonly feature: Feature;
  /** The client's name of the field, as `x-gateway-dropped-fields` reports it. */
  readonly field: string;
}

/** A call asks for one answer wherever it is translated. */
const NEVER_CARRIED: ReadonlySet<Feature> = new Set(['choices']);

/**
 * Lists the losses of requests and answers between a client's protocol and a provider's, in the
 * order of the features' names (requirement routing.translation.pairs).
 */
export function pairLosses(client: CanonicalCodec, provider: CanonicalCodec): readonly PairLoss[] {
  const said = Object.entries(fieldsOf(client)) as [Feature, string][];
  return said
    .filter(([feature]) => NEVER_CARRIED.has(feature) || !(feature in provider.features))
    .map(([feature, field]) => ({ feature, field }))
    .sort((a, b) => (a.feature < b.feature ? -1 : 1));
}

/** The client's names of all features that it may ask for. */
export function fieldsOf(client: CanonicalCodec): FeatureFields {
  return { ...client.alsoReads, ...client.features };
}
