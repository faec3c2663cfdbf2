import type { Socket } from 'node:net';
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
