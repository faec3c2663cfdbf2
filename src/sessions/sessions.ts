import type { PayingKey } from '../usage/principal.ts';
import type { ResolvedAgent } from './resolved-agent.ts';
import type { EntryPoint, Session, SessionStatus } from './session.ts';
import type { EventDelta, NewEvent, PlacedEvent, SessionEvent } from './session-event.ts';

export interface NewSession {
  readonly organization: string;
  readonly payer: PayingKey;
  readonly entryPoint: EntryPoint;
  readonly agent: ResolvedAgent;
  readonly endpointId?: string | undefined;
  readonly deploymentId?: string | undefined;
  readonly title?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly environmentId?: string | undefined;
  readonly vaultIds?: readonly string[] | undefined;
  readonly resources?: readonly unknown[] | undefined;
  readonly budget?: unknown;
  /** Appended in the same commit. */
  readonly events?: readonly NewEvent[] | undefined;
}

export interface EventQuery {
  /** Behind (ascending) or before (descending) this place. */
  readonly after?: number | undefined;
  /** Default 20, at most 1,000. */
  readonly limit?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly matches?: ((event: SessionEvent) => boolean) | undefined;
}

export interface FollowOptions {
  /** Event id: everything behind it comes first, then what happens. Default: what happens from now on. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
  /** Also `event_start` and `event_delta` of these event types. Default: none. */
  readonly deltas?: readonly string[] | undefined;
}

/**
 * Sessions and their event logs (design: Sessions and runtimes). The three entry points all come
 * through here. Ids of another organization are `not_found`. Rejects with `StoreError`.
 */
export interface Sessions {
  create(input: NewSession): Promise<{ session: Session; events: SessionEvent[] }>;
  /** @throws GatewayError `not_found` */
  get(organization: string, id: string): Promise<Session>;
  /**
   * Appends all of the events or none and wakes the turn that they are for.
   *
   * @throws GatewayError `not_found`; `invalid_request` with the path of the fault; `conflict` for an
   *   archived or terminated Session
   */
  send(organization: string, id: string, events: readonly NewEvent[]): Promise<SessionEvent[]>;
  /** One page of the history; costs the same wherever it begins. */
  read(organization: string, id: string, query: EventQuery): Promise<PlacedEvent[]>;
  /**
   * History, then live, without gap or repetition, on any process of the store. Ends when the Session
   * is terminated or deleted, or `signal` is aborted.
   */
  follow(
    organization: string,
    id: string,
    options: FollowOptions,
  ): AsyncIterable<PlacedEvent | EventDelta>;
}

/** What a turn changes of its Session together with the events that it appends. */
export interface TurnChange {
  readonly status?: SessionStatus;
  readonly usage?: Session['usage'];
  readonly activeMs?: number;
  /** The input up to this place is taken up. */
  readonly handled?: number;
}

/**
 * The Session as the one that runs its turn sees it. A turn runs at most once at a time over all
 * processes; every write is refused with `conflict` once another has taken over.
 */
export interface TurnLog {
  readonly session: Session;
  /** Events from the place on, ascending, all pages. */
  events(after?: number): AsyncIterable<PlacedEvent>;
  /** Appends in one commit with the change. */
  append(events: readonly NewEvent[], change?: TurnChange): Promise<PlacedEvent[]>;
  /** Reserves the id that an event will have, so that deltas can name it. */
  nextEventId(): string;
  /** Shows a part of the event that is on its way to those who follow. */
  show(delta: EventDelta): void;
  /** Calls back when input arrives while the turn runs (an interrupt, a confirmation). */
  onInput(listener: () => void): () => void;
}

/** Executes turns: the built-in model loop or a harness (design: Sessions and runtimes). */
export interface TurnRunner {
  /**
   * Goes on from wherever the log stands, after a crash too, until nothing is left to do: idle with a
   * stop reason, or waiting for the client. `signal` is aborted when the lease is lost or the process
   * stops: leave off without a word, somebody else goes on.
   */
  run(log: TurnLog, signal: AbortSignal): Promise<void>;
}
