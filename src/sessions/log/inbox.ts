import type { WakeTurns } from '../../core/turns/wake-turns.ts';
import type { LiveFollower } from '../live-sessions.ts';
import type { EventDelta, SessionEvent } from './session-event.ts';

/** Parts that wait for a reader; one that is slower gets no further parts of that event. */
const MAX_WAITING = 1_000;
/** Events on their way at once. */
const MAX_OPEN = 16;

/** Events that one follower has yet to read. */
export class Inbox implements LiveFollower {
  readonly #types: ReadonlySet<string>;
  readonly #signal: AbortSignal;
  readonly #wake = (): void => this.#resolve();
  readonly #turn = (): void => {
    this.#isWoken = false;
    this.#resolve();
  };
  /** Ids of events whose parts this follower has seen from the first one on. */
  readonly #open = new Set<string>();
  #waiting: { id: string; delta: EventDelta }[] = [];
  #rung = true;
  readonly #wakes: WakeTurns;
  #isWoken = false;
  #resolve: () => void = () => undefined;

  constructor(types: readonly string[], signal: AbortSignal, wakes: WakeTurns) {
    this.#types = new Set(types);
    this.#signal = signal;
    this.#wakes = wakes;
    signal.addEventListener('abort', this.#wake);
  }

  get seesParts(): boolean {
    return this.#types.size > 0;
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#wake);
  }

  ring(): void {
    this.#rung = true;
    this.#wakeInTurn();
  }

  /** True when the log must be read; from now on it was. */
  answer(): boolean {
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }

  show(delta: EventDelta): void {
    const id = this.#idOf(delta);
    if (id === undefined || !this.#open.has(id)) return;
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push({ id, delta });
    // Later parts would join to another text without the next ones.
    else this.#open.delete(id);
    this.#wakeInTurn();
  }

  #wakeInTurn(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    this.#wakes.enter(this.#turn);
  }

  /** Parts of an event that is about to be sent whole; none come after it. */
  takeOf(event: SessionEvent): EventDelta[] {
    const taken = this.#waiting.filter(({ id }) => id === event.id);
    this.#waiting = this.#waiting.filter(({ id }) => id !== event.id);
    this.#open.delete(event.id);
    return taken.map(({ delta }) => delta);
  }

  /** Parts that may be sent now: none of them before an event appended earlier. */
  take(): EventDelta[] {
    if (this.#rung) return [];
    const taken = this.#waiting;
    this.#waiting = [];
    return taken.map(({ delta }) => delta);
  }

  /** Resolves when there is something to look at or the follower leaves. */
  async next(): Promise<void> {
    if (this.#rung || this.#waiting.length > 0 || this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
  }

  #idOf({ type, event, event_id }: EventDelta): string | undefined {
    if (type === 'event_delta') return String(event_id);
    const { id, type: of } = event as { id: string; type: string };
    if (!this.#types.has(of)) return undefined;
    // The rest of an attempt that came to nothing never comes.
    const [oldest] = this.#open;
    if (this.#open.size >= MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
    this.#open.add(id);
    return id;
  }
}
