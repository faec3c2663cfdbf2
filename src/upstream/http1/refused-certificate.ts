import type { Socket } from 'node:net';
import { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import type { PeerCertificate } from 'node:tls';

/** An error that a certificate caused, with the name of that. */
interface CertificateError extends Error {
  certificate?: string;
}

/**
 * Adds the certificate to the error of a socket that refuses it: once the error is out, the socket no
 * longer has it.
 */
export function keepCertificate(socket: Socket): void {
  if (!(socket instanceof TLSSocket)) return;
  let shown: string | undefined;
  socket.prependOnceListener('secure', () => {
    shown = describe(socket.getPeerCertificate());
  });
  const name = (error: CertificateError): void => {
    if (shown !== undefined) error.certificate = shown;
  };
  socket.once('error', name);
  socket.once('secureConnect', () => socket.off('error', name));
}

/** Text about the certificate that an error is about, if there is one. */
export function certificateIn(error: unknown): string | undefined {
  if (!(error instanceof Error && 'certificate' in error)) return undefined;
  return typeof error.certificate === 'string' ? error.certificate : undefined;
}

/** Alerts of TLS by which a provider asks for another client certificate (RFC 8446, 6.2). */
const REFUSALS =
  /ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_REVOKED|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN|UNKNOWN_CA|ACCESS_DENIED)$/;

/** Text about an alert by which a provider refuses a client certificate, or the lack of one. */
export function alertIn(code: string | undefined): string | undefined {
  if (code === undefined || !code.startsWith('ERR_SSL_')) return undefined;
  if (code.endsWith('ALERT_CERTIFICATE_REQUIRED'))
    return 'the provider asks for a client certificate';
  if (REFUSALS.test(code)) return 'the provider refuses the client certificate';
  // TLS 1.2 has no alert of its own for a certificate that is missing.
  if (code.endsWith('ALERT_HANDSHAKE_FAILURE'))
    return 'the provider asks for a client certificate, or for another way to encrypt';
  return undefined;
}

/**
 * Text about a connection that was closed before its first answer, though a client certificate was at hand:
 * many servers send no reason when they refuse it.
 */
export function describeShown(pem: string): string {
  const shown = describe(new X509Certificate(pem).toLegacyObject());
  return `the provider closed without a word, as one that refuses the client certificate does (${shown})`;
}

function describe({
  subject,
  issuer,
  valid_to: end,
}: Partial<PeerCertificate>): string | undefined {
  if (!subject) return undefined;
  return `certificate of ${nameIn(subject)} by ${nameIn(issuer)}, valid to ${end}`;
}

function nameIn(owner: PeerCertificate['subject'] | undefined): string {
  return [owner?.CN, owner?.O].flat().find((part) => part !== undefined) ?? 'an unnamed owner';
}
