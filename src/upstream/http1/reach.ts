import { createHash } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { Proxy } from '../proxy/proxy.ts';
import type { ReachSettings } from '../transport.ts';

/** Rules for making connections to a destination, in addition to its address; shares them with its equals. */
export interface Reach {
  /** Equal for equal settings; empty for none. Holds no secret. */
  readonly key: string;
  /** Name sent and checked in place of that of the address. */
  readonly serverName: string | undefined;
  readonly proxy: Proxy | undefined;
  /** Certificate (PEM) that is shown to who asks for one. */
  readonly cert: string | undefined;
  secureContext(): SecureContext;
}

export function createReach(settings: ReachSettings = {}): Reach {
  const { ca, cert, key, serverName, proxy } = settings;
  let context: SecureContext | undefined;
  return {
    key: keyOf([ca, cert, key, serverName, proxy?.name, proxy?.authorization]),
    serverName,
    cert,
    proxy,
    // Reads all trusted authorities, so it is made once and not before it is needed.
    secureContext: () =>
      (context ??= createSecureContext({
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
      })),
  };
}

function keyOf(parts: readonly (string | undefined)[]): string {
  if (parts.every((part) => part === undefined)) return '';
  const text = JSON.stringify(parts.map((part) => part ?? null));
  return `#${createHash('sha256').update(text).digest('base64url')}`;
}
