import type { Protocol } from '../protocols/registry.ts';
import type { Quirks } from '../core/json/quirks.ts';
import type { TlsSettings } from '../upstream/transport.ts';
import type { AssetEndpoints, ProviderAuth, ProviderDefinition } from './define-provider.ts';

/** Parts that all requests of one protocol share; made once per account. */
export interface PreparedEndpoint {
  /** Base URL and path; `{model}` and `{method}` may still be in it. */
  readonly address: string;
  /** Empty, or the query from the base URL and the credential, with its `?`. */
  readonly search: string;
  /** Present when the address has no placeholder: shared by all requests, not to be changed. */
  readonly url: URL | undefined;
  /** Flat name, value list: the account's own headers, then the credential, once. */
  readonly headers: readonly string[];
  /** All headers of a JSON request for an answer that is not a stream; shared, not to be changed. */
  readonly jsonHeaders: string[];
  /** The same for one that is. */
  readonly streamHeaders: string[];
}

/**
 * Name by which accounts are of one vendor, so that each can read what another one's models thought:
 * the type of provider, or the address where the type has none of its own.
 */
export function vendorOf({ definition, baseUrl }: ProviderAccount): string {
  return definition.baseUrl === undefined ? baseUrl : definition.id;
}

/** `client`: each client sends its own credential, and the account has none. */
export type AccountAuth = ProviderAuth | { type: 'client' };

/** A provider account that requests can be sent to: a definition and what the operator set on top. */
export interface ProviderAccount {
  readonly id: string;
  readonly name: string;
  readonly definition: ProviderDefinition;
  /** Absolute, http or https, without a trailing slash. */
  readonly baseUrl: string;
  readonly auth: AccountAuth;
  /** The unsealed credential; never logged, never in an error. */
  readonly credential: string | undefined;
  /** True: the credential is one client's, for one call. Default false. */
  readonly isLent?: boolean;
  readonly protocols: ProviderDefinition['protocols'];
  readonly headers: Readonly<Record<string, string>>;
  readonly quirks: Partial<Record<Protocol, Quirks>>;
  readonly headerSpelling: 'vendor' | 'native';
  /** Beta identifiers that are kept from it, and those that it cannot serve; `*` for all. */
  readonly dropBetas: readonly string[];
  readonly refuseBetas: readonly string[];
  readonly noStreamUsage: boolean;
  /** Present when it keeps media itself. */
  readonly assets?: AssetEndpoints | undefined;
  /** True when it fetches media that a request names by URL. */
  readonly fetchesMedia?: boolean;
  /** URL of its own proxy, or `none`; undefined: that of the environment. */
  readonly proxy?: string | undefined;
  /** Absent: TLS as Node does it. */
  readonly tls?: TlsSettings | undefined;
  /** Most connections at once from this process; undefined for the usual number. */
  readonly connections?: number | undefined;
  /** Filled by `resolveAccount`; without it an endpoint is prepared again for every request. */
  readonly endpoints?: ReadonlyMap<Protocol, PreparedEndpoint>;
  /** Script of `type: mock`; undefined elsewhere. */
  readonly mock: unknown;
}
