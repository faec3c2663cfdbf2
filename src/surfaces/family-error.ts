import { GatewayError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Family } from '../protocols/family.ts';

/**
 * An error with the family's status for it.
 *
 * @param statuses of the candidates that were tried, null where none arrived
 */
export function toFamilyError(
  family: Family,
  error: GatewayError,
  statuses: readonly (number | null)[] = [],
): GatewayError {
  const told = TELLERS[error.code];
  return told ? told(family, error, statuses) : error;
}

type Teller = (
  family: Family,
  error: GatewayError,
  statuses: readonly (number | null)[],
) => GatewayError;

const TELLERS: Partial<Record<ErrorCode, Teller>> = {
  key_spending_limit: ({ keySpent }, error) => error.with({ status: keySpent }),
  unpriced: ({ keySpent }, error) => error.with({ status: keySpent }),
  model_not_found: ({ unknownModel }, error) => error.with({ status: unknownModel }),
  // Clients need not tell the two apart (requirement chat.status.404-model).
  model_unavailable: ({ noRoute: status }, { message, param }) =>
    new GatewayError('model_not_found', { status, message, ...(param && { param }) }),
  upstream_rejected: (family, error) => error.with({ status: refusalStatus(family, error.status) }),
  invalid_upstream_response: toUnreadable,
  no_route_succeeded: toExhausted,
};

function toUnreadable({ unreadable, maySkipStreams }: Family, error: GatewayError): GatewayError {
  if (maySkipStreams && error.type === 'not_a_stream') {
    const message = 'no route of this model streams';
    return new GatewayError('unsupported_feature', { message, param: 'stream', cause: error });
  }
  if (unreadable === 502) return error;
  return new GatewayError('no_route_succeeded', { cause: error, ...retryOf(error) });
}

/**
 * Returns the status of a refusal. A status of the family maps to itself, however often this is
 * applied.
 */
function refusalStatus({ refusals, denials = [] }: Family, status: number): number {
  const isTold = !refusals || refusals.includes(status) || denials.some((one) => one === status);
  return isTold ? status : 400;
}

function toExhausted(
  { limited, denials, failed }: Family,
  error: GatewayError,
  statuses: readonly (number | null)[],
): GatewayError {
  const last = statuses.at(-1);
  const all = (status: number): boolean =>
    statuses.length > 0 && statuses.every((one) => one === status);
  if (last === 429 && (limited === 'last' || (limited === 'all' && all(429))))
    return new GatewayError('provider_rate_limited', { cause: error });
  if (failed && all(500)) return error.with({ status: 500 });
  if (denials?.some((status) => status === last)) {
    const message = 'the provider refused the request for lack of permission';
    return new GatewayError('upstream_rejected', { status: last as number, message, cause: error });
  }
  return error;
}

function retryOf({ retry }: GatewayError): { retry?: boolean } {
  return retry === undefined ? {} : { retry };
}
