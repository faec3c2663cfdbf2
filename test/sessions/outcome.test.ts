import { describe, expect, it } from 'vitest';
import { placeEvents } from '../../src/sessions/log/place-events.ts';
import type { NewEvent } from '../../src/sessions/log/session-event.ts';
import { outcomeOf } from '../../src/sessions/outcome.ts';
import type { SessionRow } from '../../src/sessions/session-row.ts';
import { verifies } from '../requirements.ts';
import { idle } from './support.ts';

const FRESH = { status: 'idle', awaiting: [], isPaused: false, head: 0, queued: 0, lastAt: 0 };

const hello: NewEvent = { type: 'user.message', content: [] };
const running: NewEvent = { type: 'session.status_running' };
const again: NewEvent = { type: 'session.status_rescheduled' };
const over: NewEvent = { type: 'session.status_terminated' };
const stopped: NewEvent = { type: 'user.interrupt' };
const asks = idle('requires_action', { event_ids: ['sevt_1'] });
const failed = (message: string): NewEvent => ({ type: 'session.error', error: { message } });

/** Outcome of a fresh Session with these events; each list is one commit. */
function outcome(...commits: readonly NewEvent[][]): unknown {
  let row = FRESH as unknown as SessionRow;
  for (const [at, events] of commits.entries()) {
    const identified = events.map((event, index) => ({ ...event, id: `sevt_${at}_${index}` }));
    ({ row } = placeEvents(row, identified, at));
  }
  return outcomeOf(row);
}

describe('the outcome of a Session', () => {
  it.each<[string, NewEvent[], object | null]>([
    ['nothing before its first turn', [], null],
    ['running', [running], { type: 'running', reason: null, message: null }],
    [
      'running while it waits for another try',
      [running, failed('busy'), again],
      { type: 'running' },
    ],
    ['completed', [running, idle('end_turn')], { type: 'completed', reason: 'end_turn' }],
    [
      'completed with a refusal',
      [running, idle('refusal')],
      { type: 'completed', reason: 'refusal' },
    ],
    ['waiting', [running, asks], { type: 'waiting', reason: 'requires_action', message: null }],
    [
      'failed, with the error of its turn',
      [running, failed('no route'), idle('retries_exhausted')],
      { type: 'failed', reason: 'retries_exhausted', message: 'no route' },
    ],
    ['failed where the money is spent', [running, idle('budget_reached')], { type: 'failed' }],
    [
      'failed where a client interrupted it',
      [running, stopped, idle('end_turn')],
      { type: 'failed', reason: 'interrupted', message: 'a client interrupted it' },
    ],
    [
      'failed where a client interrupted it while it waited',
      [running, asks, stopped, running, idle('end_turn')],
      { type: 'failed', reason: 'interrupted' },
    ],
    [
      'ended by time while it ran',
      [running, failed('the session has reached the timeout of its Schedule'), over],
      { type: 'ended_by_time', message: 'the session has reached the timeout of its Schedule' },
    ],
    ['ended by time while it waited', [running, asks, over], { type: 'ended_by_time' }],
  ])('is %s', (_name, events, expected) => {
    verifies('schedules.outcome', 'is derived from the events of the Session');
    const found = outcome(events);
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatchObject(expected);
    // The same when each event is a commit of its own.
    expect(outcome(...events.map((event) => [event]))).toEqual(found);
  });

  it('is kept when the time of a Session is over that had ended its work', () => {
    const end = [failed('the session has reached the timeout of its Schedule'), over];
    expect(outcome([running, idle('end_turn')], end)).toMatchObject({ type: 'completed' });
    const lost = [running, failed('no route'), idle('retries_exhausted')];
    expect(outcome(lost, end)).toEqual({
      type: 'failed',
      reason: 'retries_exhausted',
      message: 'no route',
    });
  });

  it('is that of its last turn', () => {
    const lost = [running, failed('no route'), idle('retries_exhausted')];
    expect(outcome(lost, [running, idle('end_turn')])).toEqual({
      type: 'completed',
      reason: 'end_turn',
      message: null,
    });
    expect(outcome([running, stopped, idle('end_turn'), running, idle('end_turn')])).toMatchObject({
      type: 'completed',
    });
  });

  it('is known by its status alone where its end was not kept', () => {
    expect(outcomeOf({ status: 'idle' })).toBeNull();
    for (const turns of [undefined, 1])
      expect(outcomeOf({ status: 'terminated', turns })).toBeNull();
    // Its time was over before a turn began.
    expect(outcomeOf({ status: 'terminated', turns: 0 })).toMatchObject({ type: 'ended_by_time' });
  });

  it.each<[string, NewEvent[][], object]>([
    ['before the first one', [[hello]], { type: 'running' }],
    ['between two', [[hello, hello], [running], [idle('end_turn')]], { type: 'running' }],
    [
      'after one that failed',
      [[hello], [running], [idle('retries_exhausted')], [hello]],
      { type: 'running' },
    ],
    [
      'and is waiting in the middle of one',
      [[hello, hello], [running], [asks]],
      { type: 'waiting' },
    ],
    [
      'and has completed after the last',
      [[hello], [running], [idle('end_turn')]],
      { type: 'completed' },
    ],
  ])('counts the messages that are left for a turn: %s', (_name, commits, expected) => {
    expect(outcome(...commits)).toEqual(expect.objectContaining({ message: null, ...expected }));
  });

  it('holds no more of an error than a list can show', () => {
    const long = outcome([running, failed('x'.repeat(9_000)), idle('retries_exhausted')]);
    expect((long as { message: string }).message).toHaveLength(500);
  });
});
