import { GatewayError } from '../../core/errors.ts';
import type { EventDelta, NewEvent, PlacedEvent } from './session-event.ts';
import { withNextTurn } from '../next-turn.ts';
import type { RowChange, SessionLog } from './session-log.ts';
import type { SessionRow } from '../session-row.ts';
import type { Session, SessionStatus } from '../session.ts';
import type { TurnChange, TurnLog } from '../sessions.ts';
import type { Entry, Op } from '../../store/store.ts';
import type { TurnFence } from './turn-fence.ts';
import { eventOf, moveOf } from '../status-moves.ts';

/** A lease that is renewed is in the way once; one that is lost always, and the row soon shows that. */
const MAX_END_TRIES = 3;

export interface FencedTurn {
  readonly fence: TurnFence;
  /** Row of the Session, as it was read. */
  readonly entry: Entry<SessionRow>;
  /** Operations that end the go with a commit; see `JobRun.toEnd`. */
  readonly toEnd?: (() => readonly Op[]) | undefined;
  /** Receives the status, whenever it may have changed. */
  onStatus(status: SessionStatus): void;
}

/** The log for the one that runs the turn: an append is refused that the fence does not let through. */
export class FencedTurnLog implements TurnLog {
  readonly #log: SessionLog;
  readonly #fence: TurnFence;
  readonly #listeners = new Set<() => void>();
  readonly #onStatus: FencedTurn['onStatus'];
  readonly #toEnd: FencedTurn['toEnd'];
  #isOver = false;
  #session: Session;
  /** State as last seen: mostly it has no other writer meanwhile. */
  #entry: Entry<SessionRow>;
  readonly #first: number;
  /** Number of the last input that listeners were notified of. */
  #told: number;

  constructor(log: SessionLog, session: Session, turn: FencedTurn) {
    const { fence, entry, onStatus, toEnd } = turn;
    const { lastInput } = entry.value;
    this.#log = log;
    this.#session = session;
    this.#entry = entry;
    this.#fence = fence;
    this.#onStatus = onStatus;
    this.#toEnd = toEnd;
    this.#first = lastInput;
    this.#told = lastInput;
  }

  get session(): Session {
    return this.#session;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isWatched(): boolean {
    return this.#log.live.isWatched(this.#session.id);
  }

  async *events(after?: number): AsyncIterable<PlacedEvent> {
    for await (const chunk of this.#log.chunks(this.#session.id, { after })) yield* chunk;
  }

  async append(events: readonly NewEvent[], change: TurnChange = {}): Promise<PlacedEvent[]> {
    const identified = this.#log.identify(withStatus(events, change));
    let tries = 0;
    let isEnd = false;
    const make = (row: SessionRow | undefined): RowChange => {
      if (this.#isOver || !row || !this.#fence.owns(row)) throw lostTurn();
      const { usage = row.usage, cost = row.cost, handled = row.handled } = change;
      const { unpriced = row.unpriced } = change;
      const own = this.#fence.enter(row);
      const entered = Object.assign({}, own, { usage, cost, unpriced, handled });
      const next = withNextTurn(this.#log, entered, identified);
      const isDone = change.isLast === true && !next.isFollowed && handled >= row.lastInput;
      const ops = isDone && tries++ < MAX_END_TRIES ? this.#toEnd?.() : undefined;
      isEnd = ops !== undefined;
      return ops ? { ops, ...next } : next;
    };
    const changed = await this.#log.change(this.#session.id, make, () => this.#entry);
    if (!changed) throw lostTurn();
    this.#isOver = isEnd;
    this.see({ key: this.#entry.key, value: changed.row, version: changed.version });
    return changed.placed;
  }

  nextEventId(): string {
    return this.#log.newEventId();
  }

  show(delta: EventDelta): void {
    this.#log.live.show(this.#session.id, delta);
  }

  onInput(listener: () => void): () => void {
    this.#listeners.add(listener);
    // A late follower may have read the log before it arrived.
    if (this.#told > this.#first) queueMicrotask(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The row as it is now; notifies of new input. */
  see(entry: Entry<SessionRow>): void {
    const { value: row } = entry;
    if (row.head >= this.#session.head) {
      this.#session = { agent: this.#session.agent, ...row };
      this.#entry = entry;
    }
    this.#onStatus(this.#session.status);
    if (row.lastInput <= this.#told) return;
    this.#told = row.lastInput;
    for (const listener of this.#listeners) listener();
  }
}

/** Every move has its event (requirement sessions.status.transitions). */
function withStatus(events: readonly NewEvent[], { status }: TurnChange): readonly NewEvent[] {
  if (status === undefined || events.some((event) => moveOf(event) === status)) return events;
  const type = eventOf(status);
  if (status === 'running') return [{ type }, ...events];
  if (status !== 'idle') return [...events, { type }];
  return [...events, { type, stop_reason: { type: 'end_turn' }, stop_details: null }];
}

function lostTurn(): GatewayError {
  return new GatewayError('conflict', { message: 'this turn is run by another process now' });
}
