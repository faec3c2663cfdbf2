import type { Protocol } from '../core/protocol-id.ts';
import type { Quirks } from '../core/quirks.ts';
import type { ProviderAuth, ProviderDefinition } from './define-provider.ts';

/** A provider account that requests can be sent to: a definition and what the operator set on top. */
export interface ProviderAccount {
  readonly id: string;
  readonly name: string;
  readonly definition: ProviderDefinition;
  /** Absolute, http or https, without a trailing slash. */
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
