import { describe, expect, it } from 'vitest';
import type { EventDelta, PlacedEvent } from '../../src/sessions/log/session-event.ts';
import { LiveSessions } from '../../src/sessions/live-sessions.ts';

const PLACED = [{ seq: 1 }] as unknown as PlacedEvent[];
const DELTA = { type: 'event_delta' } as unknown as EventDelta;

/** A follower that writes down what it is told. */
function follower(seesParts?: boolean) {
  const told: unknown[] = [];
  return {
    told,
    ring: (placed: PlacedEvent[]) => void told.push(placed),
    show: (delta: EventDelta) => void told.push(delta),
    ...(seesParts !== undefined && { seesParts }),
  };
}

describe('the followers of a Session', () => {
  it('are all told of it, and of no other one', () => {
    const live = new LiveSessions();
    const [first, second, other] = [follower(), follower(true), follower()];
    live.add('a', first);
    live.add('a', second);
    live.add('b', other);
    live.ring('a', PLACED);
    live.show('a', DELTA);
    live.ring('c', PLACED);
    expect([first.told, second.told, other.told]).toEqual([[PLACED, DELTA], [PLACED, DELTA], []]);
  });

  it('are told nothing once they have left, each by itself', () => {
    const live = new LiveSessions();
    const [stays, leaves] = [follower(), follower(true)];
    live.add('a', stays);
    const leave = live.add('a', leaves);
    leave();
    live.ring('a', PLACED);
    expect([stays.told, leaves.told]).toEqual([[PLACED], []]);
    expect(live.isWatched('a')).toBe(false);
  });

  it('that leave twice let those who came meanwhile stay', () => {
    const live = new LiveSessions();
    const leave = live.add('a', follower());
    leave();
    const later = follower();
    live.add('a', later);
    leave();
    live.ring('a', PLACED);
    expect(later.told).toEqual([PLACED]);
  });

  it.each([
    [undefined, false],
    [false, false],
    [true, true],
  ])('see parts of events (%s): %s', (seesParts, isWatched) => {
    const live = new LiveSessions();
    live.add('a', follower());
    live.add('a', follower(seesParts));
    expect(live.isWatched('a')).toBe(isWatched);
    expect(live.isWatched('b')).toBe(false);
  });
});
