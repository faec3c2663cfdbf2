import type { NewEvent, SessionEvent } from './log/session-event.ts';
import type { SessionLog } from './log/session-log.ts';
import { awaitedBy } from './status-moves.ts';

/** Result of a call that gets no other answer. */
export const CUT_OFF = 'interrupted: the call was cut off and may or may not have had its effect';
/** Answers a call that was not permitted, or not started, before its turn ended. */
export const NOT_BEGUN = 'cancelled: the turn ended before the call began, so it had no effect';

/** Calls of tools, what answers each and how it names it; only the client answers custom ones. */
const CALLS = [
  { use: 'agent.tool_use', result: 'agent.tool_result', member: 'tool_use_id' },
  { use: 'agent.mcp_tool_use', result: 'agent.mcp_tool_result', member: 'mcp_tool_use_id' },
] as const;

const NO_TOKENS = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

/** Events that end the model request and the calls which an abandoned turn has left open. */
export async function openEnds(log: SessionLog, id: string): Promise<NewEvent[]> {
  const closed = new Set<unknown>();
  const allowed = new Set<unknown>();
  const ends: NewEvent[] = [];
  for await (const chunk of log.chunks(id, { order: 'desc' })) {
    for (const { event } of chunk) {
      if (event.type === 'session.status_idle' && awaitedBy(event).length === 0) return ends;
      for (const member of ['model_request_start_id', 'mcp_tool_use_id', 'tool_use_id'])
        if (event.type !== 'user.tool_confirmation') closed.add(event[member]);
      if (event.type === 'user.tool_confirmation' && event['result'] === 'allow')
        allowed.add(event['tool_use_id']);
      const end = closed.has(event.id) ? undefined : endOf(event, allowed);
      if (end) ends.unshift(end);
    }
  }
  return ends;
}

function endOf(event: SessionEvent, allowed: ReadonlySet<unknown>): NewEvent | undefined {
  const { type, id, evaluated_permission: permission = 'allow' } = event;
  if (type === 'span.model_request_start') {
    const end = { model_request_start_id: id, is_error: true, model_usage: NO_TOKENS };
    return { type: 'span.model_request_end', ...end };
  }
  const call = CALLS.find(({ use }) => use === type);
  const text = permission === 'allow' || allowed.has(id) ? CUT_OFF : NOT_BEGUN;
  const content = [{ type: 'text', text }];
  return call && { type: call.result, [call.member]: id, content, is_error: true };
}
