import { isJsonObject } from '../../core/json/value.ts';
import type { StreamFailure } from '../protocol.ts';

/** The HTTP status that each type of error has outside of streams. */
const STATUSES: ReadonlyMap<unknown, number> = new Map(
  Object.entries({
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    request_too_large: 413,
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  }),
);

/** Reads the provider's failure from an `error` event. */
export function toMessagesFailure(event: Readonly<Record<string, unknown>>): StreamFailure {
  const error = isJsonObject(event['error']) ? event['error'] : event;
  const { message, type } = error;
  const status = STATUSES.get(type);
  return {
    kind: 'error',
    message: typeof message === 'string' ? message : '',
    ...(typeof type === 'string' ? { type } : {}),
    ...(status === undefined ? {} : { status }),
  };
}
