import { describe, expect, it } from 'vitest';
import {
  answerOf,
  awaitedBy,
  eventOf,
  moveOf,
  STATUS_MOVES,
} from '../../src/sessions/status-moves.ts';
import { verifies } from '../requirements.ts';

const STATUSES = ['idle', 'running', 'rescheduling', 'terminated'] as const;

describe('the moves of a Session', () => {
  it(verifies('sessions.status.transitions', 'are these and no others'), () => {
    expect(STATUS_MOVES).toEqual({
      idle: ['idle', 'running', 'terminated'],
      running: ['running', 'idle', 'rescheduling', 'terminated'],
      rescheduling: ['running', 'terminated'],
      terminated: [],
    });
  });

  it.each(STATUSES)('are told by one event each: %s', (status) => {
    expect(moveOf({ type: eventOf(status) })).toBe(status);
  });

  it('are told by no other event', () => {
    expect(eventOf('rescheduling')).toBe('session.status_rescheduled');
    expect(moveOf({ type: 'agent.message' })).toBeUndefined();
  });
});

describe('an idle event', () => {
  it('names what must be answered before the next turn', () => {
    const stop = { type: 'requires_action', event_ids: ['event_1', 'event_2'] };
    expect(awaitedBy({ type: 'session.status_idle', stop_reason: stop })).toEqual([
      'event_1',
      'event_2',
    ]);
  });

  it('names nothing for another reason, or where it has none', () => {
    const ended = { type: 'end_turn', event_ids: ['event_1'] };
    expect(awaitedBy({ type: 'session.status_idle', stop_reason: ended })).toEqual([]);
    expect(awaitedBy({ type: 'session.status_idle' })).toEqual([]);
    const broken = { type: 'requires_action', event_ids: 'event_1' };
    expect(awaitedBy({ type: 'session.status_idle', stop_reason: broken })).toEqual([]);
  });
});

describe('an answer of a client', () => {
  it('names the event that it answers, and what that may be', () => {
    expect(answerOf({ type: 'user.custom_tool_result', custom_tool_use_id: 'event_1' })).toEqual({
      id: 'event_1',
      member: 'custom_tool_use_id',
      to: ['agent.custom_tool_use'],
    });
    expect(answerOf({ type: 'user.tool_result', tool_use_id: 'event_2' })).toEqual({
      id: 'event_2',
      member: 'tool_use_id',
      to: ['agent.tool_use'],
    });
    expect(answerOf({ type: 'user.tool_confirmation', tool_use_id: 'event_3' })).toEqual({
      id: 'event_3',
      member: 'tool_use_id',
      to: ['agent.tool_use', 'agent.mcp_tool_use'],
    });
  });

  it('is none of the other events', () => {
    expect(answerOf({ type: 'user.message' })).toBeUndefined();
  });
});
