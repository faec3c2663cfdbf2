import type { Usage } from '../../core/usage.ts';
import type { EventDelta, NewEvent, PlacedEvent } from '../../sessions/log/session-event.ts';
import { isSpent } from '../../sessions/session-budget.ts';
import type { SessionStatus, SessionUsage } from '../../sessions/session.ts';
import type { TurnLog } from '../../sessions/sessions.ts';
import { TurnState } from './turn-state.ts';

export interface Change {
  readonly status?: SessionStatus;
  /** Usage of one model request, added to the Session's. */
  readonly usage?: Usage | undefined;
  /** Cost of the same in nano-dollars, added, too; null: unknown. */
  readonly cost?: number | null | undefined;
  /** See `TurnChange`. */
  readonly isLast?: true;
}

/** The log of a Session and its state, kept consistent: every write and read goes through here. */
export class TurnJournal {
  readonly state: TurnState;
  readonly log: TurnLog;
  #usage: SessionUsage;
  #cost: number;
  #unpriced: boolean;
  #handled: number;
  #deferred: NewEvent[] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** @param state what the log came to up to some event; default: nothing was read of it */
  constructor(log: TurnLog, state = new TurnState()) {
    const { usage, cost, unpriced = false, handled } = log.session;
    this.log = log;
    this.state = state;
    this.#usage = usage;
    this.#cost = cost;
    this.#unpriced = unpriced;
    this.#handled = handled;
  }

  /** True when the budget that the client set is used up. */
  get isSpent(): boolean {
    return isSpent({ budget: this.log.session.budget, cost: this.#cost });
  }

  /** Reads events of other writers, as far as the log has seen them. Rejects with `StoreError`. */
  sync(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.log.session.head > this.state.seq) await this.#read();
    });
  }

  /** Resolves once durable. Rejects with `conflict` after a takeover, or with `StoreError`. */
  append(events: readonly NewEvent[], change: Change = {}): Promise<PlacedEvent[]> {
    return this.#inTurn(() => this.#append(events, change));
  }

  /**
   * Appends an event together with the next ones, or by {@link flush}. A crash may lose it:
   * a takeover does the same without it.
   */
  defer(event: NewEvent): void {
    this.#deferred.push(event);
  }

  flush(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#deferred.length > 0) await this.#append([], {});
    });
  }

  /** Shows a part of an event, unless an earlier event is still deferred. */
  show(delta: EventDelta): void {
    if (this.#deferred.length === 0) this.log.show(delta);
  }

  /** Says that all input is seen, for input that asks for nothing. */
  settle(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.state.lastInput > this.#handled) await this.#append([], {});
    });
  }

  async #append(
    events: readonly NewEvent[],
    { status, usage, cost = 0, isLast }: Change,
  ): Promise<PlacedEvent[]> {
    const { state, log } = this;
    const handled = Math.max(this.#handled, state.lastInput);
    const sum = this.#cost + (cost ?? 0);
    const unpriced = this.#unpriced || cost === null;
    const total = usage ? addUsage(this.#usage, usage) : this.#usage;
    const placed = await log.append([...this.#deferred, ...events], {
      handled,
      ...(status !== undefined && { status }),
      ...(isLast && { isLast }),
      ...(usage && { usage: total, cost: sum, ...(unpriced && { unpriced }) }),
    });
    this.#deferred = [];
    this.#handled = handled;
    this.#usage = total;
    this.#cost = sum;
    this.#unpriced = unpriced;
    // Events that a client sent meanwhile come before ours.
    if (placed[0] && placed[0].seq !== state.seq + 1) await this.#read();
    for (const one of placed) state.take(one);
    return placed;
  }

  async #read(): Promise<void> {
    for await (const placed of this.log.events(this.state.seq)) this.state.take(placed);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function addUsage(total: SessionUsage, usage: Usage): SessionUsage {
  const { cache_creation: written } = total;
  return {
    input_tokens: total.input_tokens + usage.input,
    output_tokens: total.output_tokens + usage.output,
    cache_read_input_tokens: total.cache_read_input_tokens + usage.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: written.ephemeral_5m_input_tokens + usage.cacheWrite5m,
      ephemeral_1h_input_tokens: written.ephemeral_1h_input_tokens + usage.cacheWrite1h,
    },
  };
}
