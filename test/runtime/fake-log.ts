import { EMPTY_USAGE, fakeAgent } from './fake-agent.ts';
import type { ResolvedAgent } from '../../src/sessions/resolved-agent.ts';
import type { EventDelta, NewEvent, PlacedEvent } from '../../src/sessions/log/session-event.ts';
import type { Session } from '../../src/sessions/session.ts';
import type { TurnChange, TurnLog } from '../../src/sessions/sessions.ts';

/** Thrown by everything that a dead process would still do. */
export class Crash extends Error {}

/** Death before or behind the commit of the nth append from now on, counted from 1. */
export interface CrashPoint {
  readonly at: number;
  readonly when: 'before' | 'behind';
}

/** What the last idle event waits for. */
function awaitedOf(placed: readonly PlacedEvent[]): string[] {
  const last = placed.findLast(({ event }) => event.type === 'session.status_idle')?.event;
  const reason = last?.['stop_reason'] as { event_ids?: string[] } | undefined;
  return reason?.event_ids ?? [];
}

function answeredIn(placed: readonly PlacedEvent[]): Set<unknown> {
  const last = placed.findLastIndex(({ event }) => event.type === 'session.status_idle');
  return new Set(
    placed
      .slice(last + 1)
      .map(({ event }) => event)
      .filter(({ type }) => type.startsWith('user.'))
      .map((event) => event['tool_use_id'] ?? event['custom_tool_use_id']),
  );
}

/** A message is left, and no turn that runs or waits for the client. */
function hasNextTurn(events: readonly NewEvent[]): boolean {
  let queued = 0;
  let phase = 'idle';
  for (const { type, stop_reason: reason } of events) {
    if (type === 'user.message') queued++;
    if (type === 'session.status_running') {
      if (phase === 'idle') queued--;
      phase = 'running';
    }
    if (type === 'session.status_idle')
      phase = (reason as { type?: string }).type === 'requires_action' ? 'waiting' : 'idle';
  }
  return phase === 'idle' && queued > 0;
}

const isInput = (type: string): boolean => /^(?:user|system)\./.test(type);

/** A Session in memory, and any number of processes that run its turns one after the other. */
export class FakeSession {
  readonly placed: PlacedEvent[] = [];
  readonly shown: EventDelta[] = [];
  readonly #listeners = new Set<() => void>();
  #ids = 0;
  #crash: CrashPoint | undefined;
  session: Session;

  readonly #isEager: boolean;
  readonly #isWatched: boolean;

  /**
   * Eager, the default: input and what is left move an idle Session in their own commit, as those of a real
   * log do. Watched, the default: somebody follows the parts of events.
   */
  constructor(
    agent: Partial<ResolvedAgent> = {},
    { eager = true, watched = true }: { eager?: boolean; watched?: boolean } = {},
  ) {
    this.#isEager = eager;
    this.#isWatched = watched;
    this.session = {
      id: 'sess_1',
      organization: 'org_1',
      payer: { keyId: 'key_1', keyName: 'one', organizationId: 'org_1' },
      status: 'idle',
      entryPoint: 'session',
      endpointId: null,
      deploymentId: null,
      agent: fakeAgent(agent),
      title: null,
      metadata: {},
      environmentId: 'env_default',
      vaultIds: [],
      resources: [],
      budget: null,
      usage: EMPTY_USAGE,
      cost: 0,
      activeMs: 0,
      head: 0,
      handled: 0,
      createdAt: '2026-11-21T00:00:00.000Z',
      updatedAt: '2026-11-21T00:00:00.000Z',
      archivedAt: null,
      awaiting: [],
    };
  }

  get types(): string[] {
    return this.placed.map(({ event }) => event.type);
  }

  of(type: string): PlacedEvent['event'][] {
    return this.placed.map(({ event }) => event).filter((event) => event.type === type);
  }

  /** What a client sends. */
  send(...events: NewEvent[]): PlacedEvent[] {
    const placed = this.#place(events);
    if (this.#isEager) this.#move(placed);
    for (const listener of this.#listeners) listener();
    return placed;
  }

  message(text: string): PlacedEvent {
    const [placed] = this.send({ type: 'user.message', content: [{ type: 'text', text }] });
    return placed as PlacedEvent;
  }

  /** The process dies there that runs the turn then. */
  dieAt(crash: CrashPoint | undefined): void {
    this.#crash = crash;
  }

  /** The log as the next process sees it. */
  open(): TurnLog & { isDead(): boolean } {
    let dead = false;
    const alive = (): void => {
      if (dead) throw new Crash();
    };
    const die = (): never => {
      dead = true;
      this.#crash = undefined;
      throw new Crash();
    };
    const isDue = (when: CrashPoint['when']): boolean =>
      this.#crash?.at === 0 && this.#crash.when === when;
    const current = (): Session => ({ ...this.session, head: this.placed.length });
    return {
      isDead: () => dead,
      isOver: false,
      isWatched: this.#isWatched,
      get session() {
        return current();
      },
      events: (after = 0) => this.#behind(after, alive),
      append: async (events, change = {}) => {
        alive();
        await Promise.resolve();
        alive();
        if (this.#crash) this.#crash = { ...this.#crash, at: this.#crash.at - 1 };
        if (isDue('before')) die();
        const after = [...this.placed.map(({ event }) => event), ...events];
        const isNext = this.#isEager && hasNextTurn(after);
        const next: NewEvent[] = isNext ? [{ type: 'session.status_running' }] : [];
        const placed = this.#commit([...events, ...next], change);
        if (isDue('behind')) die();
        return placed;
      },
      nextEventId: () => this.#nextId(),
      show: (delta) => {
        if (!dead) this.shown.push(delta);
      },
      onInput: (listener) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
    };
  }

  #move(sent: readonly PlacedEvent[]): void {
    if (this.session.status !== 'idle') return;
    const before = this.placed.slice(0, -sent.length);
    const awaited = awaitedOf(before).filter((id) => !answeredIn(before).has(id));
    const answered = answeredIn(sent);
    const left = awaited.filter((id) => !answered.has(id));
    const isAnswered = left.length < awaited.length;
    const isCalled = isAnswered || sent.some(({ event }) => event.type === 'user.message');
    if (left.length > 0 && isAnswered) {
      const stop_reason = { type: 'requires_action', event_ids: left };
      this.#place([{ type: 'session.status_idle', stop_reason, stop_details: null }]);
    } else if (left.length === 0 && isCalled) {
      this.#commit([{ type: 'session.status_running' }], { status: 'running' });
    }
  }

  async *#behind(after: number, alive: () => void): AsyncIterable<PlacedEvent> {
    alive();
    for (const placed of this.placed.slice(after)) yield placed;
  }

  #commit(events: readonly NewEvent[], change: TurnChange): PlacedEvent[] {
    this.session = { ...this.session, ...change };
    return this.#place(events);
  }

  #place(events: readonly NewEvent[]): PlacedEvent[] {
    const placed = events.map((event, index) => ({
      seq: this.placed.length + index + 1,
      event: {
        ...event,
        id: typeof event['id'] === 'string' ? event['id'] : this.#nextId(),
        processed_at: '2026-11-21T00:00:00.000Z',
      },
    }));
    this.placed.push(...placed);
    return placed;
  }

  #nextId(): string {
    return `sevt_${++this.#ids}`;
  }

  /** Place of the last event that a client sent. */
  get lastInput(): number {
    return this.placed.findLast(({ event }) => isInput(event.type))?.seq ?? 0;
  }
}
