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
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  BAD_PORT,
]);

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
  if (NEVER_SENT.has(reason)) {
    const message = `cannot reach ${call.server} (${reason})`;
    return new ClientError({ ...details, code: 'unreachable', message });
  }
  const message = `the connection to ${call.server} was lost`;
  return new ClientError({ ...details, code: 'connection_lost', message });
}

/** fetch hides the socket's error two causes deep, and several addresses make an AggregateError. */
function systemCode(thrown: unknown): string {
  let error = thrown;
  for (let depth = 0; depth < 5 && error instanceof Error; depth++) {
    if ('code' in error && typeof error.code === 'string' && error.code !== '') return error.code;
    if (error.message === BAD_PORT) return BAD_PORT;
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
  return '';
}
