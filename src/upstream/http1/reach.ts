import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { TlsSettings } from '../transport.ts';

/** How connections to a destination are made, beside its address; shares them with its equals. */
export interface Reach {
  /** Equal for equal settings; empty for none. */
  readonly key: string;
  /** Name sent and checked in place of that of the address. */
  readonly serverName: string | undefined;
  secureContext(): SecureContext;
}

export function createReach({ ca, serverName }: TlsSettings = {}): Reach {
  let context: SecureContext | undefined;
  const key = JSON.stringify([ca ?? null, serverName ?? null]);
  return {
    key: ca === undefined && serverName === undefined ? '' : key,
    serverName,
    // Reads all trusted authorities, so it is made once and not before it is needed.
    secureContext: () => (context ??= createSecureContext(ca === undefined ? {} : { ca })),
  };
}
