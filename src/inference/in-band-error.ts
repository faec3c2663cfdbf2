import type { InBandError } from '../protocols/protocol.ts';
import type { AttemptFailure } from './types.ts';

/** Tells a client of a failure behind the beginning of its answer. */
export function toInBandError(failure: AttemptFailure): InBandError {
  if (failure.reason === 'timeout_idle' || failure.reason === 'timeout_total') {
    return {
      message: 'the provider stopped sending',
      type: 'timeout_error',
      code: 'upstream_timeout',
      status: 504,
    };
  }
  if (failure.reason === 'shutting_down' || failure.reason === 'bug') {
    const { message, code, status } = failure.error;
    return { message, type: 'api_error', code, status };
  }
  return {
    message: 'the provider failed during the stream',
    type: 'api_error',
    code: 'upstream_interrupted',
    status: 502,
  };
}
