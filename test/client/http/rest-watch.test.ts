import { describe, expect, it } from 'vitest';
import { RESTING, RestWatch } from '../../../src/client/http/rest-watch.ts';
import type { SessionEvent } from '../../../src/sessions/log/session-event.ts';

function watched(...events: { type: string; [field: string]: unknown }[]): RestWatch {
  const watch = new RestWatch();
  for (const event of events) watch.take({ id: 'evt', ...event } as unknown as SessionEvent);
  return watch;
}

const RUNNING = { type: 'session.status_running' };
const IDLE = { type: 'session.status_idle', stop_reason: { type: 'end_turn' } };
const FAILED = { type: 'session.error', error: { type: 'model_error' } };

describe('the rest of a Session', () => {
  it('has not come before its first turn, nor while it is at work', () => {
    expect(watched().end).toBeUndefined();
    expect(watched({ type: 'user.message' }, { type: 'agent.message' }).end).toBeUndefined();
    expect(watched(RUNNING).end).toBeUndefined();
    expect(watched(RUNNING, IDLE, RUNNING).end).toBeUndefined();
  });

  it('is told with its reason, and goes on to be open', () => {
    const watch = watched(RUNNING, IDLE);
    expect(watch.end).toEqual({ type: 'end_turn', error: undefined });
    expect(watch.isOver).toBe(false);
  });

  it.each([
    ['session.status_terminated', 'terminated'],
    ['session.deleted', 'deleted'],
  ])('is for good behind %s', (type, word) => {
    const watch = watched(RUNNING, { type });
    expect(watch.end).toEqual({ type: word, error: undefined });
    expect(watch.isOver).toBe(true);
  });

  it('carries the error of its own turn alone', () => {
    expect(watched(RUNNING, FAILED, IDLE).end?.error).toEqual({ type: 'model_error' });
    expect(watched(RUNNING, FAILED, IDLE, RUNNING, IDLE).end?.error).toBeUndefined();
    expect(watched(RUNNING, { type: 'session.error' }, IDLE).end?.error).toBeUndefined();
    expect(watched(RUNNING, FAILED, { type: 'session.deleted' }).end?.error).toEqual({
      type: 'model_error',
    });
  });

  it('hangs on no other events than it names', () => {
    const all = [RUNNING, { type: 'agent.message' }, FAILED, { type: 'span.end' }, IDLE];
    const named = all.filter(({ type }) => RESTING.includes(type));
    expect(named).toHaveLength(3);
    expect(watched(...named).end).toEqual(watched(...all).end);
  });
});
