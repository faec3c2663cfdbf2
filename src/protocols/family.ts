import type { GatewayError } from '../core/errors.ts';

/**
 * Carriers in which a family looks for the key, in order; the first that is present decides
 * (contract: Authentication).
 */
export type Carrier = 'bearer' | 'x-api-key' | 'google-header' | 'query-key';

/** The shapes of error bodies that several endpoints share (contract: Errors). */
export type EnvelopeName = 'flat' | 'resource' | 'chat' | 'messages' | 'google';

/** A shape that one protocol has of its own, for the failures of shared checks, too. */
export interface OwnEnvelope {
  /** Name in the OpenAPI document, before `Error`. */
  readonly name: string;
  /** JSON Schema of the body. */
  readonly schema: Readonly<Record<string, unknown>>;
  render(error: GatewayError, requestId: string): object;
}

export type Envelope = EnvelopeName | OwnEnvelope;

/**
 * Conventions of one family of inference endpoints, as data (contract: Endpoints, Authentication,
 * Errors).
 */
export interface Family {
  /** Carriers in which the key is looked for, in order. */
  readonly carriers: readonly Carrier[];
  /** True: `Authorization` is the client's own credential at a provider where the key came before it. */
  readonly lendsBearer?: boolean;
  /** Shape of error bodies. */
  readonly envelope: Envelope;
  /** Answer when the key has reached its spending limit. */
  readonly keySpent: 402 | 403;
  /** A model that is not configured. */
  readonly unknownModel: 400 | 404;
  /** A model that no enabled route serves in this family. */
  readonly noRoute: 400 | 404;
  /** Answer when no answer of a provider could be read. */
  readonly unreadable: 502 | 503;
  /** True: 400 when a provider answers a request for a stream whole. Absent: like `unreadable`. */
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

/** Conventions of most families. */
export const STANDARD = {
  carriers: ['bearer'],
  envelope: 'chat',
  keySpent: 402,
  unknownModel: 404,
  noRoute: 404,
  unreadable: 502,
} as const satisfies Family;

/** Conventions of Google's own protocols. */
export const GOOGLE = {
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
