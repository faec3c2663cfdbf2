import type { Op } from '../store/store.ts';
import type { PayingKey } from '../usage/principal.ts';
import type { ResolvedAgent } from './resolved-agent.ts';
import type { SessionCommit } from './session-row.ts';
import type { EntryPoint, Session, SessionBudget, SessionStatus } from './session.ts';
import type { Waiting } from './waiting.ts';
import type { EventDelta, NewEvent, PlacedEvent, SessionEvent } from './log/session-event.ts';

export interface NewSession {
  readonly organization: string;
  readonly payer: PayingKey;
  readonly entryPoint: EntryPoint;
  readonly agent: ResolvedAgent;
  readonly endpointId?: string | undefined;
  readonly deploymentId?: string | undefined;
  readonly runId?: string | undefined;
  readonly title?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly environmentId?: string | undefined;
  readonly vaultIds?: readonly string[] | undefined;
  readonly resources?: readonly unknown[] | undefined;
  readonly budget?: SessionBudget | null | undefined;
  /** Appended in the same commit, as by `send`. */
  readonly events?: readonly unknown[] | undefined;
  /** Further operations of that commit; if one does not hold, there is no Session. */
  also?(made: MadeSession): readonly Op[] | Promise<readonly Op[]>;
  readonly commit?: SessionCommit | undefined;
}

/** A new Session, with those of its events that were given. */
export interface MadeSession {
  readonly session: Session;
  readonly events: SessionEvent[];
}

/** Events to append. */
export interface SessionInput {
  readonly events: readonly unknown[];
  /**
   * Id of the event to which the Session must still want an answer; null: it must want none, or be requested to
   * give the turn up. Judged in their commit. Default: any.
   */
  readonly awaited?: string | null | undefined;
  /** Further operations of their commit, given the events as they are appended. */
  also?(sent: SessionEvent[]): Promise<readonly Op[]>;
}

/** Further operations of the commit that changes a Session, given the Session that it makes; none without. */
export type AlsoChanged = (session: Session) => Promise<readonly Op[]>;

export interface Termination {
  /** Reason that followers are given. */
  readonly reason: string;
  /** Judged in the commit that ends it. Default: always. */
  readonly onlyIf?: ((session: Pick<Session, SessionState>) => boolean) | undefined;
}

type SessionState = 'status' | 'createdAt' | 'updatedAt' | 'archivedAt';

export interface EventQuery {
  /** Position after (ascending) or before (descending) which the page begins. */
  readonly after?: number | undefined;
  /** Default 20. */
  readonly limit?: number | undefined;
  /** Ends the page with the event by which it has about so many characters. Default: 1 MiB. */
  readonly maxSize?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly matches?: ((event: SessionEvent) => boolean) | undefined;
}

export interface EventPage {
  readonly events: PlacedEvent[];
  /** `after` of the next page; null when nothing more matches. */
  readonly next: number | null;
  /** Instant at which the events before it were removed (ISO 8601); null: they were not. */
  readonly removedAt: string | null;
}

export interface FollowOptions {
  /** Event id: everything after it comes first, then new events. Default: events from now on. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
  /** Event types that `event_start` and `event_delta` are shown of, too. Default: none. */
  readonly deltas?: readonly string[] | undefined;
}

/** Omitted members stay. */
export interface SessionChanges {
  readonly title?: string | null | undefined;
  /** A text upserts its key, null deletes it. */
  readonly metadata?: Readonly<Record<string, string | null>> | undefined;
  /** Whole lists as an Agent takes them; null clears one. Not while a turn runs. */
  readonly agent?: { readonly tools?: unknown; readonly mcp_servers?: unknown } | undefined;
  /** Replaces the one that the Session was made with; null takes it away. */
  readonly budget?: SessionBudget | null | undefined;
  readonly also?: AlsoChanged | undefined;
  readonly commit?: SessionCommit | undefined;
}

/** Parts of the commit that archives a Session. */
export type Archival = Pick<SessionChanges, 'also' | 'commit'>;

export interface SessionFilter {
  /** Only these, as far as they exist. Default: any. */
  readonly ids?: readonly string[] | undefined;
  readonly agentId?: string | undefined;
  readonly agentVersion?: number | undefined;
  readonly deploymentId?: string | undefined;
  readonly endpointId?: string | undefined;
  /** Default: all. */
  readonly statuses?: readonly SessionStatus[] | undefined;
  readonly includeArchived?: boolean | undefined;
  /** ISO 8601 in UTC with milliseconds. */
  readonly created?: ((at: string) => boolean) | undefined;
}

export interface SessionQuery extends SessionFilter {
  /**
   * Id after which the page begins in the direction of travel; the Session need not exist any more.
   */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/**
 * Sessions and their event logs (design: Sessions and runtimes). The three entry points all come
 * through here. Ids of another organization are `not_found`. Rejects with `StoreError`.
 */
export interface Sessions {
  /**
   * @throws GatewayError `invalid_request` with the path of the fault in `initial_events`; `conflict` of
   *   type `session_not_wanted` when what `also` asks for does not hold
   */
  create(input: NewSession): Promise<MadeSession>;
  /** @throws GatewayError `not_found` */
  get(organization: string, id: string): Promise<Session>;
  /** The calls that wait for its client; null: none. Costs a read for each of them. */
  waitingOf(session: Session): Promise<Waiting | null>;
  /** One page, by age; costs more the fewer of them match. */
  list(organization: string, query: SessionQuery): Promise<Session[]>;
  /**
   * Appends `session.updated` unless nothing changes.
   *
   * @throws GatewayError `not_found`; `conflict` for an agent at work; `invalid_request` and `unprocessable`
   * for lists that make no Agent or name undeclared objects
   */
  update(organization: string, id: string, changes: SessionChanges): Promise<Session>;
  /**
   * Ends all input; a turn that runs continues to its end and can be interrupted. Idempotent.
   *
   * @throws GatewayError `not_found`
   */
  archive(organization: string, id: string, archival?: Archival): Promise<Session>;
  /**
   * Ends its turn and its streams for good; its events stay readable. False when it was over already or
   * `onlyIf` does not hold. @throws GatewayError `not_found`
   */
  terminate(organization: string, id: string, termination: Termination): Promise<boolean>;
  /** Ends its turn and its streams. @throws GatewayError `not_found` */
  remove(organization: string, id: string, commit?: SessionCommit): Promise<void>;
  /**
   * Appends all of the events or none and wakes the turn that they are for; returns the events. A Session that
   * waits for nothing else runs from the same commit on, so it never looks done.
   *
   * @throws GatewayError `not_found`; `invalid_request` with the path of the fault in `events`;
   * `conflict` for a terminated Session, for an archived one unless it runs and all that is sent are
   * interrupts, and where `awaited` does not hold
   */
  send(
    organization: string,
    id: string,
    input: SessionInput | readonly unknown[],
  ): Promise<SessionEvent[]>;
  /** One page of the history; costs the same wherever it begins. @throws GatewayError `not_found` */
  read(organization: string, id: string, query: EventQuery): Promise<EventPage>;
  /**
   * History, then live, without gap or repetition, on any process of the store; from the moment at which
   * it resolves. Ends when the Session is terminated or deleted, or `signal` is aborted. Parts of events
   * reach only those who follow on the process that runs the turn.
   *
   * @throws GatewayError `not_found`; `invalid_request` for an event id that the Session does not have
   */
  follow(
    organization: string,
    id: string,
    options: FollowOptions,
  ): Promise<AsyncIterable<PlacedEvent | EventDelta>>;
}

/** Change of a Session by a turn, together with the events that it appends. */
export interface TurnChange {
  readonly status?: SessionStatus;
  readonly usage?: Session['usage'];
  readonly cost?: number;
  readonly unpriced?: boolean;
  /** The input up to this position is taken up. */
  readonly handled?: number;
  /** The runner has nothing left to do unless further input came: its go may end with this commit. */
  readonly isLast?: boolean;
}

/**
 * The Session as the one that runs its turn sees it. A turn runs at most once at a time over all
 * processes; every write is refused with `conflict` once another has taken over.
 */
export interface TurnLog {
  /** Session as last seen. */
  readonly session: Session;
  /** The go has ended with the last append: another process may have the Session. */
  readonly isOver: boolean;
  /** A follower in this process sees parts of events on their way. */
  readonly isWatched: boolean;
  /** Events from the position on, ascending, all pages. */
  events(after?: number): AsyncIterable<PlacedEvent>;
  /** Appends in one commit with the change. */
  append(events: readonly NewEvent[], change?: TurnChange): Promise<PlacedEvent[]>;
  /** Reserves the id that an event will have, so that deltas can name it; append the event with it. */
  nextEventId(): string;
  /** Shows a part of the event that is on its way to those who follow. */
  show(delta: EventDelta): void;
  /** Calls back when input arrives, or has arrived, while the turn runs (an interrupt, a confirmation). */
  onInput(listener: () => void): () => void;
}

/** Executes turns: the built-in model loop or a harness (design: Sessions and runtimes). */
export interface TurnRunner {
  /**
   * Continues from the end of the log, after a crash too, until nothing is left to do: idle with a stop reason,
   * or waiting for the client. `signal` is aborted when the lease is lost or the process stops: stop without a
   * word, another process continues.
   */
  run(log: TurnLog, signal: AbortSignal): Promise<void>;
}
