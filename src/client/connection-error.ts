import { ClientError } from './client-error.ts';

export interface LostCall {
  /** The base URL, for the message. */
  server: string;
  /** The call's own time was up. */
  expired: boolean;
  /** The caller gave up. */
  aborted: boolean;
  attempts: number;
}

const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
]);

/**
 * What fetch threw when no answer arrived: `timeout`, `aborted`, `unreachable` (nothing was sent) or
 * `connection_lost` (the call may have taken effect).
 */
export function toConnectionError(thrown: unknown, call: LostCall): ClientError {
  const details = { attempts: call.attempts, cause: thrown };
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
    if ('code' in error && typeof error.code === 'string' && error.code.startsWith('E'))
      return error.code;
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
  return '';
}
