import type { Protocol } from '../core/protocol-id.ts';
import type { Quirks } from '../core/quirks.ts';
import type { ProviderAuth, ProviderDefinition } from '../providers/define-provider.ts';
import type { Pricing } from '../usage/usage.ts';

export type ModelType = 'llm' | 'embedding' | 'image' | 'video' | 'audio' | 'api';

/** Milliseconds. */
export interface Timeouts {
  readonly firstContent: number;
  readonly idle: number;
  readonly total: number;
}

/** A provider account that requests can be sent to. */
export interface ProviderAccount {
  readonly id: string;
  readonly name: string;
  readonly definition: ProviderDefinition;
  readonly baseUrl: string;
  readonly auth: ProviderAuth;
  /** The unsealed credential; never logged, never in an error. */
  readonly credential: string | undefined;
  readonly protocols: ProviderDefinition['protocols'];
  readonly headers: Readonly<Record<string, string>>;
  readonly quirks: Partial<Record<Protocol, Quirks>>;
  readonly headerSpelling: 'vendor' | 'native';
  readonly noStreamUsage: boolean;
  /** What `type: mock` scripts; undefined elsewhere. */
  readonly mock: unknown;
}

/** Give up a candidate that delivers too slowly before the commit (requirement routing.min-throughput). */
export interface MinThroughput {
  readonly bytesPerSecond: number;
  /** Milliseconds over which it is judged, from the first byte. */
  readonly over: number;
}

/** One route of a model: a candidate for its requests. */
export interface Route {
  /** Stable within the model: provider name, upstream model and position. */
  readonly id: string;
  readonly provider: ProviderAccount;
  readonly upstreamModel: string;
  readonly protocols: ReadonlySet<Protocol>;
  readonly mapping: 'native' | 'translated';
  /** Lower is tried first. */
  readonly priority: number;
  readonly weight: number;
  readonly pricing: Pricing;
  readonly timeouts: Timeouts;
  readonly minThroughput: MinThroughput | undefined;
  readonly responseModel: 'provider' | 'logical';
}

export type Strategy = 'priority' | 'least_latency' | 'sticky';

/** A logical model. */
export interface Model {
  readonly id: string;
  readonly type: ModelType;
  readonly displayName: string;
  readonly description: string | null;
  readonly vendor: string;
  /** Seconds since epoch, as the catalog shows it. */
  readonly created: number;
  readonly capabilities: readonly string[];
  /** JSON Schema of the input, or null. */
  readonly schema: unknown;
  readonly pricing: Pricing;
  readonly maxOutputTokens: number | undefined;
  readonly strategy: Strategy;
  /** Logical names tried after every candidate of this model failed. */
  readonly fallbacks: readonly string[];
  /** Enabled routes only. */
  readonly routes: readonly Route[];
}

/** An immutable picture of all models; a request keeps the one it started with. */
export interface Catalog {
  /** Changes when the contents change. */
  readonly fingerprint: string;
  readonly models: ReadonlyMap<string, Model>;
}
