import type { StopKind } from './canonical.ts';

/**
 * Stop reason of an answer that holds calls: some providers end with calls as they end with text,
 * or with a reason of their own. Clients run tools only where the stop reason names calls.
 */
export function stopWithCalls(kind: StopKind, hasCalls: boolean): StopKind {
  return hasCalls && (kind === 'end' || kind === 'other') ? 'tool_calls' : kind;
}
