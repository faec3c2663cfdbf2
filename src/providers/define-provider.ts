import type { Protocol } from '../protocols/registry.ts';
import type { Capabilities } from '../protocols/capabilities/capabilities.ts';
import type { Quirks } from '../core/json/quirks.ts';
import type { ModelListing } from './listing/model-listing.ts';
import type { FailureClass } from '../upstream/classify.ts';

/** Form in which the provider takes its credential. */
export type ProviderAuth =
  | { type: 'bearer' }
  | { type: 'header'; name: string; prefix?: string }
  | { type: 'query'; name: string }
  | { type: 'none' };

export interface ProtocolEndpoint {
  /**
   * Path below the base URL. `{model}` is the upstream model name, percent-encoded; `{method}` the
   * generate-content method. For `images` it is the path of generations, edits are next to it.
   */
  path: string;
  /** Form of the credential where this endpoint takes another than the rest of the provider. */
  auth?: ProviderAuth;
}

/**
 * Endpoints at which a provider registers media and reports on it (contract: Media assets), by its
 * own member names.
 */
export interface AssetEndpoints {
  /** Path below the base URL that takes a `POST`. */
  readonly create: string;
  /** Path that a `GET` asks; `{id}` is the external id, percent-encoded. */
  readonly get: string;
  /** Names of the members of the request. Default `url`, `asset_type`, `name`. */
  readonly request?: { readonly url?: string; readonly type?: string; readonly name?: string };
  /** JSON paths into its answers. Default `$.id`, `$.status`, `$.download_url`. */
  readonly response?: {
    readonly id?: string;
    readonly status?: string;
    readonly download_url?: string;
  };
}

/** A kind of provider, as data (design: Providers). The same members can be written in `gateway.yaml`. */
export interface ProviderDefinition {
  /** The value of `type` in a provider resource. */
  id: string;
  displayName: string;
  /** Absent: the resource must give `base_url`. */
  baseUrl?: string;
  auth: ProviderAuth;
  /** True when it may be called without a key; one that is set is sent. Default false. */
  keyOptional?: boolean;
  /** True: calls cost nothing unless `pricing` says otherwise. Default: their price is to be known. */
  isFree?: boolean;
  /** A protocol that is absent is not supported. */
  protocols: Partial<Record<Protocol, ProtocolEndpoint>>;
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>>;
  /** Beta identifiers (`native-beta`) that are kept from this provider; `*` for all. */
  dropBetas?: readonly string[];
  /** Beta identifiers that it cannot serve: a request with one passes it over; `*` for all. */
  refuseBetas?: readonly string[];
  /** Quirks by protocol. */
  quirks?: Partial<Record<Protocol, Quirks>>;
  /** Capabilities of all its models for translated requests, in place of those of the table. */
  capabilities?: Partial<Capabilities>;
  /** Environment variables in which people keep this vendor's key, most usual first. */
  envKeys?: readonly string[];
  /** Variable in which the vendor's own client finds another address, in the form of `baseUrl`. */
  envUrl?: string;
  /** True when `stream_options.include_usage` is refused by the provider. Default false. */
  noStreamUsage?: boolean;
  /** Endpoint that lists its models. Absent: they are called without a list. */
  models?: ModelListing;
  /** Patterns of the names that the vendor gives its own models, as its tools ask for them. */
  ownNames?: readonly string[];
  /** Present when it keeps media itself. */
  assets?: AssetEndpoints;
  /** True when it fetches media that a request names by URL. Default: it wants the bytes. */
  fetchesMedia?: boolean;
  /** Overrides the default classification for answers it returns a class for. */
  classify?: (status: number, body: string) => FailureClass | undefined;
}

/**
 * Declares a type of provider; returns its argument.
 *
 * @example
 * ```ts
 * import { defineProvider } from 'agent-gateway';
 *
 * export const acme = defineProvider({
 * id: 'acme',
 * displayName: 'Acme',
 * baseUrl: 'https://api.acme.example/v1',
 * auth: { type: 'bearer' },
 * protocols: { chat: { path: '/chat/completions' } },
 * envKeys: ['ACME_API_KEY'],
 * });
 * ```
 */
export function defineProvider(definition: ProviderDefinition): ProviderDefinition {
  return definition;
}
