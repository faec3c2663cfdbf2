import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { GatewayError } from '../core/errors.ts';
import type { TlsSettings } from '../upstream/transport.ts';

/** Settings of TLS as a provider resource has them. */
export interface DeclaredTls {
  ca?: string | null | undefined;
  /** Certificate, followed by its chain, that is shown to the provider. */
  cert?: string | null | undefined;
  /** Its private key; {@link UNREAD_KEY} for one that is only named. */
  key?: string | null | undefined;
  server_name?: string | null | undefined;
}

/** Path of the private key in a provider. */
export const CLIENT_KEY = 'tls.key';

/** Text in place of a private key that is declared by its name and not read. */
export const UNREAD_KEY = 'unread';

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * Reads the settings of TLS for an address; undefined for none. Throws `invalid_request` with `param`
 * for authorities and certificates that cannot be read, which TLS itself would pass over, for a
 * certificate or a key without the other, and for an address without TLS.
 */
export function readTls(
  declared: DeclaredTls | null | undefined,
  baseUrl: string,
): TlsSettings | undefined {
  const settings: TlsSettings = {
    ca: declared?.ca ?? undefined,
    cert: declared?.cert ?? undefined,
    key: declared?.key ?? undefined,
    serverName: declared?.server_name ?? undefined,
  };
  const { ca, cert, key, serverName } = settings;
  if (Object.values(settings).every((one) => one === undefined)) return undefined;
  if (!baseUrl.startsWith('https:')) {
    throw invalid('tls', 'tls needs a base_url that begins with https');
  }
  if (ca !== undefined) readCertificates(ca, 'tls.ca');
  if (cert !== undefined) readCertificates(cert, 'tls.cert');
  if (cert !== undefined && key === undefined) {
    const hint = 'name its file as ${secret:file:client.key}';
    throw invalid(CLIENT_KEY, `tls.cert needs tls.key, its private key; ${hint}`);
  }
  if (key !== undefined && cert === undefined) {
    const hint = 'name its file as ${file:client.pem}';
    throw invalid('tls.cert', `tls.key needs tls.cert, its certificate; ${hint}`);
  }
  if (serverName !== undefined && isIP(serverName) !== 0) {
    throw invalid('tls.server_name', 'server_name must be a name, not an address');
  }
  return settings;
}

/**
 * Checks that a certificate is valid at `now` (RFC 3339) and that the key, where there is one, is its
 * own. Throws `invalid_request` with `param`. No message holds anything of the key.
 */
export function checkClientCertificate({ cert, key }: DeclaredTls, now: string): void {
  if (typeof cert !== 'string') return;
  const own = readCertificates(cert, 'tls.cert')[0]!;
  if (Date.parse(own.validTo) <= Date.parse(now)) {
    throw invalid('tls.cert', `tls.cert has expired on ${own.validTo}; renew it`);
  }
  if (typeof key === 'string' && !own.checkPrivateKey(readPrivateKey(key))) {
    const hint = 'name the key that the certificate was issued for, and its own certificate first';
    throw invalid(CLIENT_KEY, `tls.key is not the private key of tls.cert; ${hint}`);
  }
}

/** Leaves out OpenSSL's text about a key: it could quote the key. */
function readPrivateKey(pem: string): KeyObject {
  if (/^-{5}BEGIN ENCRYPTED PRIVATE KEY|^Proc-Type:.*ENCRYPTED/m.test(pem)) {
    const hint = 'decrypt it: openssl pkey -in client.key -out plain.key';
    throw invalid(CLIENT_KEY, `tls.key must not have a passphrase; ${hint}`);
  }
  try {
    return createPrivateKey(pem);
  } catch {
    const hint = 'name its file as ${secret:file:client.key}';
    throw invalid(CLIENT_KEY, `tls.key must hold a private key in PEM; ${hint}`);
  }
}

function readCertificates(pem: string, param: 'tls.ca' | 'tls.cert'): X509Certificate[] {
  const found = pem.match(CERTIFICATES) ?? [];
  const begun = pem.split('-----BEGIN ').length - 1;
  const read = found.flatMap((one) => toCertificate(one) ?? []);
  if (read.length === 0 || begun !== read.length) {
    const file = param === 'tls.ca' ? 'ca.pem' : 'client.pem';
    throw invalid(param, `${param} must hold certificates in PEM; name a file as \${file:${file}}`);
  }
  return read;
}

function toCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', { param, message });
}
