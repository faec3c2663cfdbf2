import { stringifyWithRaw } from '../../core/json/raw.ts';
import type { NewEvent } from '../../sessions/log/session-event.ts';
import type { WaitingCall } from '../../sessions/waiting.ts';

/** Decision about a call that asks for permission. */
export interface Verdict {
  readonly result: 'allow' | 'deny';
  /** Reason for the model. */
  readonly reason?: string | undefined;
}

/** The event that allows or denies a call. */
export function toConfirmation({ id }: WaitingCall, { result, reason }: Verdict): NewEvent {
  return {
    type: 'user.tool_confirmation',
    tool_use_id: id,
    result,
    ...(reason !== undefined && { deny_message: reason }),
  };
}

/** The event that gives the result of a call; anything but a text is its JSON. */
export function toToolResult(
  { id, answered_by: type }: WaitingCall,
  { value, isError = false }: { value: unknown; isError?: boolean },
): NewEvent {
  const text = typeof value === 'string' ? value : stringifyWithRaw(value);
  const member = type === 'user.custom_tool_result' ? 'custom_tool_use_id' : 'tool_use_id';
  const content = [{ type: 'text', text }];
  return { type, [member]: id, content, ...(isError && { is_error: true }) };
}
