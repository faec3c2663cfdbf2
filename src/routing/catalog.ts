import type { Protocol } from '../protocols/registry.ts';
import type { ModelType } from '../core/model-type.ts';
import type { ByName } from '../core/snapshot-map.ts';
import type { Capabilities } from '../protocols/capabilities/capabilities.ts';
import type { ProviderAccount } from '../providers/account.ts';
import type { Pricing } from '../usage/usage.ts';
import type { ApiTarget } from './api.ts';
import type { NameStep } from './name-rules.ts';

/** Milliseconds (contract: Limits; decisions: Timeouts). */
export interface Timeouts {
  /** Time from sending to the first content of a stream. */
  readonly firstContent: number;
  /**
   * Time from sending to the whole of an answer that is not a stream: `firstContent` where it is set, else
   * `total`, because a long answer without a stream shows nothing before its end.
   */
  readonly wholeAnswer: number;
  /** Silence between two chunks of a stream. */
  readonly idle: number;
  /** The whole call over all of its candidates. */
  readonly total: number;
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
  /**
   * Capabilities of its upstream model by its provider's type and its declaration, in place of those
   * of the table.
   */
  readonly capabilities: Partial<Capabilities>;
  /** Those that the route itself declares. */
  readonly declared: Partial<Capabilities>;
}

export type Strategy = 'priority' | 'least_latency' | 'sticky';

/** A logical model. */
export interface Model {
  readonly id: string;
  /** Id of its resource, or of its provider's: in the order of these they were configured. */
  readonly resourceId: string;
  /** Id, in lists, of the model that `id` is another name of. */
  readonly aliasOf?: string | undefined;
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
  /** Tokens that it reads and writes at most. */
  readonly contextWindow?: number | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly strategy: Strategy;
  /** Logical names tried after every candidate of this model failed. */
  readonly fallbacks: readonly string[];
  /** Enabled routes only. */
  readonly routes: readonly Route[];
}

/** An upstream API that is called by path. */
export interface Api extends ApiTarget {
  readonly pricing: Pricing;
  readonly timeouts: Timeouts;
}

/** A provider that serves models without declarations. */
export interface OpenProvider {
  readonly provider: string;
  /** Upstream names that it serves; * is any characters. */
  readonly patterns: readonly string[];
  /** Models that its last list named. */
  readonly listed: number;
  /** Why its list failed; null where it did not, or was not asked for. */
  readonly problem: string | null;
}

/** An immutable picture of all models; a request keeps the one it started with. */
export interface Catalog {
  /** Changes when the contents change. */
  readonly fingerprint: string;
  /**
   * Models by every name that leads to them (docs: routing); goes through the declared ones. APIs are
   * among them, without routes, so that they are listed.
   */
  readonly models: ByName<Model>;
  /** Models that clients are shown: the declared, aliases without `*`, and what providers list. */
  shown(): readonly Model[];
  /** Models that are called by a vendor, a slash and this name. */
  withAnyVendor(name: string): Iterable<Model>;
  /** The rules that a name passes on its way to a model; empty where none matches. */
  stepsTo(name: string): readonly NameStep[];
  /** APIs that are called by path, by name. */
  readonly apis: ByName<Api>;
  readonly open: readonly OpenProvider[];
  /** Accounts of the enabled providers, also of those without a declared model. */
  readonly accounts: readonly ProviderAccount[];
}
