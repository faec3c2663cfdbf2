import { GatewayError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Carrier } from './carriers.ts';
import type { Envelope } from './envelopes.ts';

/**
 * Conventions of one family of inference endpoints, as data (contract: Endpoints, Authentication,
 * Errors).
 */
export interface Family {
  /** Places at which the key is looked for, in order. */
  readonly carriers: readonly Carrier[];
  /** Shape of error bodies. */
  readonly envelope: Envelope;
  /** When the key has reached its spending limit. */
  readonly keySpent: 402 | 403;
  /** A model that nobody configured. */
  readonly unknownModel: 400 | 404;
  /** A model that no enabled route serves in this family. */
  readonly noRoute: 400 | 404;
  /** When no answer of a provider could be read. */
  readonly unreadable: 502 | 503;
  /** True: 400 when a stream was asked for and the provider answered whole. Absent: like `unreadable`. */
  readonly maySkipStreams?: boolean;
  /**
   * Statuses with which a provider's refusal of the request itself is passed on; the rest become
   * 400. Absent: as it came.
   */
  readonly refusals?: readonly number[];
  /** 429 when `all` candidates answered it, or the `last` one did. Absent: 503. */
  readonly limited?: 'all' | 'last';
  /** Refusals of the last candidate that the caller gets to see; others are 503. */
  readonly denials?: readonly (401 | 403)[];
  /** True: 500 when every candidate answered 500. */
  readonly failed?: boolean;
}

const STANDARD = {
  carriers: ['bearer'],
  envelope: 'chat',
  keySpent: 402,
  unknownModel: 404,
  noRoute: 404,
  unreadable: 502,
} as const satisfies Family;

const GOOGLE = {
  carriers: ['google-header', 'bearer', 'query-key'],
  envelope: 'google',
  keySpent: 403,
  unknownModel: 404,
  noRoute: 404,
  unreadable: 502,
  refusals: [400, 404, 413],
  limited: 'last',
  denials: [403],
} as const satisfies Family;

/** Every family in one place: keys, envelopes and the statuses in which they differ. */
export const FAMILIES = {
  chat: STANDARD,
  // The contract lists no 404 for it.
  responses: {
    ...STANDARD,
    unknownModel: 400,
    noRoute: 400,
    refusals: [413],
    denials: [401, 403],
  },
  embeddings: { ...STANDARD, unreadable: 503, refusals: [413] },
  images: { ...STANDARD, unknownModel: 400, refusals: [404, 413] },
  messages: {
    carriers: ['x-api-key', 'bearer'],
    envelope: 'messages',
    keySpent: 403,
    unknownModel: 404,
    noRoute: 404,
    unreadable: 502,
    refusals: [400, 404, 413],
    limited: 'all',
    denials: [403],
    failed: true,
  },
  'generate-content': GOOGLE,
  interactions: { ...GOOGLE, noRoute: 400, maySkipStreams: true },
  videos: { ...STANDARD, envelope: 'flat', refusals: [404, 413] },
} as const satisfies Record<string, Family>;

/**
 * An error with the status that the family tells it by.
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
