import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { ownTurn } from '../../core/turns/in-turns.ts';
import type { IdSource } from '../../core/ids.ts';
import { mayHaveMore } from '../../store/may-have-more.ts';
import type { Entry, Op, Store, Version } from '../../store/store.ts';
import { LiveSessions } from '../live-sessions.ts';
import { overOps } from '../over-index.ts';
import { placeEvents } from './place-events.ts';
import type { IdentifiedEvent } from './place-events.ts';
import type { ResolvedAgent } from '../resolved-agent.ts';
import { agentKey, eventIdKey, eventKey, eventPrefix, sessionKey } from '../session-row.ts';
import type { SessionCommit, SessionRow } from '../session-row.ts';
import type { NewEvent, PlacedEvent, SessionEvent } from './session-event.ts';
import type { Session } from '../session.ts';
import { Tails } from './tails.ts';

/** Most events that are read from a log at once; large ones are read a few at a time. */
const CHUNK = { limit: 32, maxBytes: 256 * 1024 };
/** Clients may ask for ids that are longer than a key of the store can be. */
const MAX_ID_LENGTH = 128;
/** Conflicts with other processes that a change outlives; one of those in conflict always gets through. */
const MAX_TRIES = 200;

export interface SessionLogOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  /**
   * Returns further operations of a commit that changes a Session, for those that report it; undefined for
   * none. Default: none.
   */
  readonly announce?: SessionAnnouncer;
}

export type SessionAnnouncer = (
  before: SessionRow,
  after: SessionRow,
) => Promise<readonly Op[]> | undefined;

/** Outcome of a change. */
export interface Committed extends Changed {
  readonly version: Version;
}

/** Change of a row. */
export interface RowChange {
  readonly row: SessionRow;
  /** Events to append, in this order. */
  readonly events?: readonly IdentifiedEvent[];
  /** Further operations of the same commit. */
  readonly ops?: readonly Op[];
  /** The same, for those that depend on the appended events. */
  also?(changed: Changed): Promise<readonly Op[]>;
  /** Default: the store commits. */
  readonly commit?: SessionCommit | undefined;
  /** The Session is deleted; the events are its last. */
  readonly isEnd?: true;
}

export interface Changed {
  readonly row: SessionRow;
  /** Events that were appended. */
  readonly placed: PlacedEvent[];
}

export interface WalkOptions {
  /** Strictly after it in the direction of travel. */
  readonly after?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
}

/**
 * The rows of Sessions and their events. Every append writes the head of its Session under its version,
 * so all processes append to one total order without gaps.
 */
export class SessionLog {
  readonly live = new LiveSessions();
  readonly tails = new Tails(this);
  readonly #options: SessionLogOptions;
  readonly #serial = new Serial();

  constructor(options: SessionLogOptions) {
    this.#options = options;
  }

  get store(): Store {
    return this.#options.store;
  }

  get now(): number {
    return this.#options.clock.now();
  }

  /** Gives every event its id, so that a commit can be tried again. */
  identify(events: readonly NewEvent[]): IdentifiedEvent[] {
    return events.map((event) => ({ ...event, id: event.id ?? this.newEventId() }));
  }

  newEventId(): string {
    return this.#options.ids.next('sevt');
  }

  newTurnId(): string {
    return this.#options.ids.next('turn');
  }

  newSessionId(): string {
    return this.#options.ids.next('sess');
  }

  async find(id: string): Promise<Entry<SessionRow> | undefined> {
    return id.length > MAX_ID_LENGTH ? undefined : this.store.get<SessionRow>(sessionKey(id));
  }

  /** @throws GatewayError `not_found`, for Sessions of other organizations too */
  async load(organization: string, id: string): Promise<SessionRow> {
    const row = (await this.find(id))?.value;
    if (row?.organization === organization) return row;
    throw noSession();
  }

  /** Undefined when it was deleted meanwhile. */
  async withAgent(row: SessionRow): Promise<Session | undefined> {
    const agent = await this.store.get<ResolvedAgent>(agentKey(row.id));
    return agent && { agent: agent.value, ...row };
  }

  /** The number of an event; undefined for an id that the Session never had. */
  async numberOf(id: string, eventId: string): Promise<number | undefined> {
    if (eventId.length > MAX_ID_LENGTH) return undefined;
    return (await this.store.get<number>(eventIdKey(id, eventId)))?.value;
  }

  async eventAt(id: string, seq: number): Promise<SessionEvent | undefined> {
    return (await this.store.get<SessionEvent>(eventKey(id, seq)))?.value;
  }

  /** The next events after a position, or before it; empty at the end. */
  async chunk(id: string, { after, order = 'asc' }: WalkOptions): Promise<PlacedEvent[]> {
    const rows = await this.store.list<SessionEvent>({
      prefix: eventPrefix(id),
      ...CHUNK,
      reverse: order === 'desc',
      ...(after === undefined ? {} : { after: eventKey(id, after) }),
    });
    return rows.map(({ key, value }) => ({ seq: Number(key[2]), event: value }));
  }

  /** Events chunk by chunk, to the end that the log has when it is reached. */
  async *chunks(id: string, { after, order }: WalkOptions = {}): AsyncGenerator<PlacedEvent[]> {
    let last = after;
    for (;;) {
      const chunk = await this.chunk(id, { after: last, order });
      if (chunk.length > 0) yield chunk;
      if (!isFollowed(chunk)) return;
      last = chunk.at(-1)?.seq;
      // Stores on this host answer at once: eight long pages in one tick would delay all others.
      await ownTurn();
    }
  }

  /**
   * Commits the changes that `make` returns for the row, again as often as another process was faster.
   * Undefined from `make`: nothing is to be done.
   *
   * @param seen the row as it mostly still is, if it has one writer; read again when it has changed. Default:
   * it is read
   * @throws GatewayError what `make` throws; `conflict` when it never gets through
   */
  change(
    id: string,
    make: (row: SessionRow | undefined) => RowChange | undefined | Promise<RowChange | undefined>,
    seen?: () => Entry<SessionRow>,
  ): Promise<Committed | undefined> {
    return this.#serial.run(id, async () => {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const entry = tries === 0 && seen ? seen() : await this.find(id);
        const change = await make(entry?.value);
        if (!entry || !change) return undefined;
        const changed = placeEvents(change.row, change.events ?? [], this.now);
        const key = sessionKey(id);
        const { version: ifVersion } = entry;
        const head: Op = change.isEnd
          ? { type: 'delete', key, ifVersion }
          : { type: 'put', key, value: changed.row, ifVersion };
        const after = change.isEnd ? undefined : changed.row;
        const ops = [
          head,
          ...appendOps(id, changed.placed),
          ...overOps(entry.value, after),
          ...(change.ops ?? []),
          ...((after && (await this.#options.announce?.(entry.value, after))) ?? []),
          ...((await change.also?.(changed)) ?? []),
        ];
        const { commit = (all: readonly Op[]) => this.store.commit(all) } = change;
        const result = await commit(ops, { before: entry.value, next: after });
        if (!result.ok) continue;
        this.live.ring(id, changed.placed);
        return { version: result.version, ...changed };
      }
      throw new GatewayError('conflict', { message: 'too much changes in this session at once' });
    });
  }
}

/** False for a chunk that surely ended with its log. */
export function isFollowed(chunk: readonly PlacedEvent[]): boolean {
  return mayHaveMore(
    chunk.map(({ event }) => event),
    CHUNK,
  );
}

/** Writes events by their numbers; the caller writes their head. */
export function appendOps(id: string, placed: readonly PlacedEvent[]): Op[] {
  return placed.flatMap(({ seq, event }): Op[] => [
    { type: 'put', key: eventKey(id, seq), value: event },
    { type: 'put', key: eventIdKey(id, event.id), value: seq },
  ]);
}

export function noSession(): GatewayError {
  return new GatewayError('not_found', { message: 'session not found' });
}

/** Runs work of one key strictly one after the other, and work of different keys at once. */
class Serial {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Waits for the key's work so far, whatever became of it. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const result = before === undefined ? work() : before.then(work);
    const tail: Promise<void> = result.then(
      () => this.#leave(key, tail),
      () => this.#leave(key, tail),
    );
    this.#tails.set(key, tail);
    return result;
  }

  #leave(key: string, tail: Promise<unknown>): void {
    if (this.#tails.get(key) === tail) this.#tails.delete(key);
  }
}
