import { ClientError } from './client-error.ts';

/** Reason of fetch for a port that it never calls. */
const BAD_PORT = 'bad port';

export interface LostCall {
  /** The base URL, for the message. */
  server: string;
  /** The call's own time was up. */
  expired: boolean;
  /** The caller gave up. */
  aborted: boolean;
  attempts: number;
  /** True for a call that changes nothing. */
  isRead: boolean;
}

/** Failures of a connection before the call was on it. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  BAD_PORT,
]);

/** Codes of OpenSSL for a certificate that is not taken, and refusals of the handshake. */
const CERTIFICATE =
  /^(?:CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_|HOSTNAME_|ERROR_IN_C|ERR_TLS_CERT_|ERR_SSL_.*_ALERT_)/;

/** True for a certificate of either side that ended the handshake. */
export const isCertificateFault = (code: string): boolean => CERTIFICATE.test(code);

/**
 * Turns what fetch threw when no answer arrived into `timeout`, `aborted`, `unreachable` (nothing was
 * sent) or `connection_lost` (a call that changes something may have taken effect).
 */
export function toConnectionError(thrown: unknown, call: LostCall): ClientError {
  const { attempts, isRead } = call;
  const details = { attempts, isRead, cause: thrown };
  if (call.expired) {
    return new ClientError({
      ...details,
      code: 'timeout',
      message: `${call.server} did not answer in time`,
    });
  }
  if (call.aborted) return new ClientError({ ...details, code: 'aborted', message: 'interrupted' });
  const reason = systemCode(thrown);
  if (NEVER_SENT.has(reason) || isCertificateFault(reason) || isBeforeCall(thrown)) {
    const message = `cannot reach ${call.server} (${reason})`;
    return new ClientError({ ...details, code: 'unreachable', message });
  }
  const message = `the connection to ${call.server} was lost`;
  return new ClientError({ ...details, code: 'connection_lost', message });
}

/** Code of the system for a failed call; empty where there is none. */
export function systemCode(thrown: unknown): string {
  for (const error of chainOf(thrown)) {
    if ('code' in error && typeof error.code === 'string' && error.code !== '') return error.code;
    if (error.message === BAD_PORT) return BAD_PORT;
  }
  return '';
}

/** An answer to the first bytes of TLS that is none. */
const NO_TLS = /wrong version number|packet length too long/i;

/** True where the name was not found or the connection never came to be, whatever the code. */
function isBeforeCall(thrown: unknown): boolean {
  return chainOf(thrown).some(
    (error) =>
      NO_TLS.test(error.message) ||
      ('syscall' in error && ['connect', 'getaddrinfo'].includes(String(error.syscall))),
  );
}

/** fetch hides the socket's error two causes deep, and several addresses make an AggregateError. */
function chainOf(thrown: unknown): Error[] {
  const chain: Error[] = [];
  let error = thrown;
  for (let depth = 0; depth < 5 && error instanceof Error; depth++) {
    chain.push(error);
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
  return chain;
}
