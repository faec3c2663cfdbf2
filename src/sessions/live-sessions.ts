import type { EventDelta, PlacedEvent } from './log/session-event.ts';

/** A follower of a Session in this process. */
export interface LiveFollower {
  /** Something changed: these events were appended, unless another process did it. */
  ring(placed: PlacedEvent[]): void;
  show(delta: EventDelta): void;
  /** It is shown parts of events. Default: no. */
  readonly seesParts?: boolean;
}

/** Feed of the followers in this process, at once and without the store; others only read the log. */
export class LiveSessions {
  readonly #followers = new Map<string, Set<LiveFollower>>();

  add(id: string, follower: LiveFollower): () => void {
    const group = this.#followers.get(id) ?? new Set();
    this.#followers.set(id, group.add(follower));
    return () => {
      group.delete(follower);
      if (group.size === 0 && this.#followers.get(id) === group) this.#followers.delete(id);
    };
  }

  /** True when a follower sees parts of the events of the Session. */
  isWatched(id: string): boolean {
    for (const { seesParts = false } of this.#followers.get(id) ?? []) if (seesParts) return true;
    return false;
  }

  ring(id: string, placed: PlacedEvent[]): void {
    for (const follower of this.#followers.get(id) ?? []) follower.ring(placed);
  }

  show(id: string, delta: EventDelta): void {
    for (const follower of this.#followers.get(id) ?? []) follower.show(delta);
  }
}
