import type { NewEvent } from './log/session-event.ts';
import type { SessionStatus } from './session.ts';

/**
 * Every move that there is (requirement sessions.status.transitions), and the repeatable ones: the events that
 * an idle Session waits for, and that one runs.
 */
export const STATUS_MOVES: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  idle: ['idle', 'running', 'terminated'],
  running: ['running', 'idle', 'rescheduling', 'terminated'],
  rescheduling: ['running', 'terminated'],
  terminated: [],
};

const STATUS_EVENTS: Readonly<Record<string, SessionStatus>> = {
  'session.status_idle': 'idle',
  'session.status_running': 'running',
  'session.status_rescheduled': 'rescheduling',
  'session.status_terminated': 'terminated',
};

/** The status of an event; undefined for events of other kinds. */
export function moveOf({ type }: NewEvent): SessionStatus | undefined {
  return STATUS_EVENTS[type];
}

/** The type of the event of a move. */
export function eventOf(status: SessionStatus): NewEvent['type'] {
  const found = Object.entries(STATUS_EVENTS).find(([, to]) => to === status);
  return found?.[0] as NewEvent['type'];
}

/** Ids of the events that must be answered before a turn continues, from an idle event. */
export function awaitedBy(event: NewEvent): readonly string[] {
  const reason = event['stop_reason'] as { type?: unknown; event_ids?: unknown } | undefined;
  const ids = reason?.type === 'requires_action' ? reason.event_ids : [];
  return Array.isArray(ids) ? ids.map(String) : [];
}

/** Event types that a client's event may answer, and the member that names the answered one. */
const ANSWERS: Readonly<Record<string, { member: string; to: readonly string[] }>> = {
  'user.custom_tool_result': { member: 'custom_tool_use_id', to: ['agent.custom_tool_use'] },
  'user.tool_result': { member: 'tool_use_id', to: ['agent.tool_use'] },
  'user.tool_confirmation': {
    member: 'tool_use_id',
    to: ['agent.tool_use', 'agent.mcp_tool_use'],
  },
};

/** Event that `event` answers: the member that names it, and the types that it may have. */
export function answerOf(
  event: NewEvent,
): { id: string; member: string; to: readonly string[] } | undefined {
  const answer = ANSWERS[event.type];
  return answer && { ...answer, id: String(event[answer.member]) };
}
