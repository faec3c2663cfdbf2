import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TurnWatch } from '../../../src/runtime/entry/turn-watch.ts';
import type { TurnEnd } from '../../../src/runtime/entry/turn-watch.ts';
import type { SessionEvent } from '../../../src/sessions/log/session-event.ts';
import { idle } from '../../sessions/support.ts';

const at = (event: { type: string; id?: string }): SessionEvent =>
  ({ id: 'sevt_0', processed_at: '', ...event }) as SessionEvent;
const message = (id: string) => at({ type: 'user.message', id });
const RUNNING = at({ type: 'session.status_running' });
const DONE = at(idle('end_turn'));
const INTERRUPT = at({ type: 'user.interrupt' });

/** The end, and the place of the event that brought it. */
function endOf(
  id: string,
  events: readonly SessionEvent[],
): (TurnEnd & { place: number }) | undefined {
  const watch = new TurnWatch(id);
  for (const [place, event] of events.entries()) {
    const end = watch.take(event);
    if (end) return { ...end, place };
  }
  return undefined;
}

/** Messages in any order among turns that take them up one by one; who ends where. */
const sessions = fc
  .array(fc.constantFrom('message', 'turn', 'error', 'reschedule'), { maxLength: 40 })
  .map((steps) => {
    const events: SessionEvent[] = [];
    const waiting: string[] = [];
    const ends = new Map<string, number>();
    let isRunning = false;
    for (const step of steps) {
      if (step === 'message') {
        const id = `sevt_${events.length}`;
        waiting.push(id);
        events.push(message(id));
      } else if (step === 'turn' && isRunning) {
        ends.set(waiting.shift() ?? '', events.length);
        events.push(DONE);
        isRunning = false;
      } else if (step === 'turn' && waiting.length > 0) {
        events.push(RUNNING);
        isRunning = true;
      } else if (step === 'reschedule' && isRunning) {
        events.push(at({ type: 'session.status_rescheduled' }), RUNNING);
      } else {
        events.push(at({ type: 'session.error' }));
      }
    }
    return { events, ends };
  });

describe('the turn of a message', () => {
  it('ends with its own idle event, whatever else was sent and run before', () => {
    fc.assert(
      fc.property(sessions, ({ events, ends }) => {
        const messages = events.filter(({ type }) => type === 'user.message');
        for (const { id } of messages) expect(endOf(id, events)?.place).toBe(ends.get(id));
      }),
    );
  });

  it('is interrupted when a client says so while it runs', () => {
    const end = endOf('a', [message('a'), RUNNING, INTERRUPT, DONE]);
    expect(end).toMatchObject({ type: 'end_turn', isInterrupted: true });
  });

  it('is not interrupted by what was meant for the turn before', () => {
    const events = [message('a'), message('b'), RUNNING, INTERRUPT, DONE, RUNNING, DONE];
    expect(endOf('a', events)).toMatchObject({ place: 4, isInterrupted: true });
    expect(endOf('b', events)).toMatchObject({ place: 6, isInterrupted: false });
  });

  it('is over for everybody when the session waits for its client', () => {
    const asks = at(idle('requires_action', { event_ids: ['sevt_9'] }));
    const events = [message('a'), RUNNING, message('b'), asks];
    const reason = { type: 'requires_action', event_ids: ['sevt_9'] };
    expect(endOf('a', events)).toMatchObject({ place: 3, reason });
    expect(endOf('b', events)).toMatchObject({ place: 3, reason });
  });

  it('goes on behind the answer of the client', () => {
    const asks = at(idle('requires_action', { event_ids: ['sevt_9'] }));
    const watch = new TurnWatch('b');
    const events = [message('a'), RUNNING, asks, RUNNING, message('b'), DONE, RUNNING];
    for (const event of events) watch.take(event);
    expect(watch.isCurrent).toBe(true);
    expect(watch.take(DONE)).toMatchObject({ type: 'end_turn' });
  });

  it('ends with its session, and tells the last error', () => {
    const error = { type: 'unknown_error', message: 'no luck' };
    const failed = { ...at({ type: 'session.error' }), error };
    const ended = at({ type: 'session.status_terminated' });
    const end = endOf('a', [message('a'), RUNNING, failed, ended]);
    expect(end).toMatchObject({ type: 'terminated', reason: null, error });
  });
});
