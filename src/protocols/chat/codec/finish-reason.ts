import type { Stop, StopKind } from '../../canonical/canonical.ts';
import { stopWithCalls } from '../../canonical/stop-kind.ts';

const KINDS: Readonly<Record<string, StopKind>> = {
  stop: 'end',
  length: 'length',
  model_length: 'context_exceeded',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'refusal',
  malformed_function_call: 'malformed_call',
};

export function readFinishReason(raw: string, hasCalls: boolean): Stop {
  const kind = (Object.hasOwn(KINDS, raw) && KINDS[raw]) || 'other';
  return { kind: stopWithCalls(kind, hasCalls), raw };
}

/** A malformed call is not a filtered answer (requirement chat.finish-reason.mapping). */
const REASONS: Readonly<Record<StopKind, string>> = {
  end: 'stop',
  stop_sequence: 'stop',
  pause: 'stop',
  malformed_call: 'stop',
  other: 'stop',
  length: 'length',
  context_exceeded: 'length',
  tool_calls: 'tool_calls',
  refusal: 'content_filter',
};

/** @param isLegacy the client reads `function_call` */
export function writeFinishReason({ kind }: Stop, isLegacy: boolean): string {
  return isLegacy && kind === 'tool_calls' ? 'function_call' : REASONS[kind];
}
