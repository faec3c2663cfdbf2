import { WakeTurns } from '../../core/turns/wake-turns.ts';
import type { LiveFollower, LiveSessions } from '../live-sessions.ts';
import type { EventDelta, PlacedEvent } from './session-event.ts';
import { sessionKey } from '../session-row.ts';
import type { SessionRow } from '../session-row.ts';
import type { Entry, Store } from '../../store/store.ts';

/** A position at the end of a log, for a follower. */
export interface Tail {
  /** Reads the events after that position, as `SessionLog.chunk` gives them; not to be changed. */
  read(after: number): Promise<PlacedEvent[]>;
  leave(): void;
}

/** Parts of a `SessionLog` that its followers need. */
interface FollowedLog {
  readonly live: LiveSessions;
  readonly store: Pick<Store, 'watch'>;
  find(id: string): Promise<Entry<SessionRow> | undefined>;
  chunk(id: string, place: { after: number }): Promise<PlacedEvent[]>;
}

/** Followers of Sessions in this process: those of one Session are woken and read together. */
export class Tails {
  /** Shared by the followers of all Sessions. */
  readonly wakes = new WakeTurns();
  readonly #log: FollowedLog;
  readonly #shared = new Map<string, SharedTail>();

  constructor(log: FollowedLog) {
    this.#log = log;
  }

  join(id: string, follower: LiveFollower): Tail {
    let shared = this.#shared.get(id);
    if (!shared)
      this.#shared.set(id, (shared = new SharedTail(this.#log, { id, wakes: this.wakes })));
    const joined = shared;
    joined.followers.add(follower);
    return {
      read: (after) => joined.read(after),
      leave: () => {
        joined.followers.delete(follower);
        if (joined.followers.size > 0 || this.#shared.get(id) !== joined) return;
        this.#shared.delete(id);
        joined.close();
      },
    };
  }
}

class SharedTail implements LiveFollower {
  readonly followers = new Set<LiveFollower>();
  readonly #log: FollowedLog;
  readonly #id: string;
  readonly #wakes: WakeTurns;
  readonly #leave: (() => void)[];
  /** Reads by position, as long as nothing can have been appended since. */
  readonly #reads = new Map<number, Promise<PlacedEvent[]>>();
  /** The followers were notified of everything up to here. */
  #told = 0;

  constructor(log: FollowedLog, { id, wakes }: { id: string; wakes: WakeTurns }) {
    this.#log = log;
    this.#id = id;
    this.#wakes = wakes;
    this.#leave = [
      log.live.add(id, this),
      log.store.watch(sessionKey(id), () => void this.#look()),
    ];
  }

  get seesParts(): boolean {
    for (const { seesParts = false } of this.followers) if (seesParts) return true;
    return false;
  }

  close(): void {
    for (const leave of this.#leave) leave();
  }

  ring(placed: PlacedEvent[]): void {
    this.#reads.clear();
    const [first, last] = [placed[0], placed.at(-1)];
    if (first && last) {
      void this.#share(first.seq - 1, Promise.resolve(placed));
      this.#told = last.seq;
    }
    this.#wake(placed);
  }

  show(delta: EventDelta): void {
    for (const follower of this.followers) follower.show(delta);
  }

  read(after: number): Promise<PlacedEvent[]> {
    return this.#reads.get(after) ?? this.#share(after, this.#log.chunk(this.#id, { after }));
  }

  /** Kept until all readers that were woken together have had their turn. */
  #share(after: number, read: Promise<PlacedEvent[]>): Promise<PlacedEvent[]> {
    this.#reads.set(after, read);
    const forget = (): void => {
      if (this.#reads.get(after) === read) this.#reads.delete(after);
    };
    setImmediate(() => this.#wakes.enter(forget));
    return read;
  }

  /** Another process changed the Session; appends of this process were notified already. */
  async #look(): Promise<void> {
    try {
      const row = (await this.#log.find(this.#id))?.value;
      if (row && row.status !== 'terminated' && row.head <= this.#told) return;
      this.#told = row?.head ?? this.#told;
    } catch {
      // Followers get the error of a failing store when they read.
    }
    this.#reads.clear();
    this.#wake([]);
  }

  #wake(placed: PlacedEvent[]): void {
    for (const follower of this.followers) follower.ring(placed);
  }
}
