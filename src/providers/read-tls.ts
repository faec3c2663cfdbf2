import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { GatewayError } from '../core/errors.ts';
import type { TlsSettings } from '../upstream/transport.ts';

/** Settings of TLS as a provider resource has them. */
export interface DeclaredTls {
  ca?: string | null | undefined;
  server_name?: string | null | undefined;
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * Reads the settings of TLS for an address; undefined for none. Throws `invalid_request` with `param`
 * for authorities that cannot be read, which TLS itself would pass over, and for an address without TLS.
 */
export function readTls(
  declared: DeclaredTls | null | undefined,
  baseUrl: string,
): TlsSettings | undefined {
  const ca = declared?.ca ?? undefined;
  const serverName = declared?.server_name ?? undefined;
  if (ca === undefined && serverName === undefined) return undefined;
  if (!baseUrl.startsWith('https:')) {
    throw invalid('tls', 'tls needs a base_url that begins with https');
  }
  if (ca !== undefined) checkAuthorities(ca);
  if (serverName !== undefined && isIP(serverName) !== 0) {
    throw invalid('tls.server_name', 'server_name must be a name, not an address');
  }
  return { ca, serverName };
}

function checkAuthorities(pem: string): void {
  const found = pem.match(CERTIFICATES) ?? [];
  const begun = pem.split('-----BEGIN ').length - 1;
  if (found.length === 0 || begun !== found.length || !found.every(isCertificate)) {
    throw invalid('tls.ca', 'tls.ca must hold certificates in PEM; name a file as ${file:ca.pem}');
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', { param, message });
}
