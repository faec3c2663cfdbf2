/** Types of events that a client may append (requirement sessions.events.send). */
export type InputType =
  | 'user.message'
  | 'user.interrupt'
  | 'user.tool_confirmation'
  | 'user.custom_tool_result'
  | 'user.tool_result'
  | 'system.message';

/** Types of events that the gateway appends (requirement sessions.events.types). */
export type ServerType =
  | 'agent.message'
  | 'agent.thinking'
  | 'agent.tool_use'
  | 'agent.tool_result'
  | 'agent.custom_tool_use'
  | 'agent.mcp_tool_use'
  | 'agent.mcp_tool_result'
  | 'session.status_running'
  | 'session.status_idle'
  | 'session.status_rescheduled'
  | 'session.status_terminated'
  | 'session.error'
  | 'session.updated'
  | 'session.deleted'
  | 'span.model_request_start'
  | 'span.model_request_end';

/** An event before it has its number: the wire object without `processed_at`. */
export interface NewEvent {
  readonly type: InputType | ServerType;
  /** Present where `TurnLog.nextEventId` reserved it. */
  readonly id?: string;
  readonly [member: string]: unknown;
}

/** An event of the history, exactly as every reader gets it (requirement sessions.events.envelope). */
export interface SessionEvent extends NewEvent {
  /** `sevt_…` */
  readonly id: string;
  /** ISO 8601, the instant at which it was appended. */
  readonly processed_at: string;
}

/** A stored event with its number in the one order of its Session. */
export interface PlacedEvent {
  /** Counts from 1 without gaps. */
  readonly seq: number;
  readonly event: SessionEvent;
}

/** Part of an answer on its way, for streams that asked for it; never stored. */
export interface EventDelta {
  readonly type: 'event_start' | 'event_delta';
  readonly [member: string]: unknown;
}
