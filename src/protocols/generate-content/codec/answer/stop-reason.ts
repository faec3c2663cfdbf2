import type { Stop, StopKind } from '../../../canonical/canonical.ts';
import { stopWithCalls } from '../../../canonical/stop-kind.ts';

const KINDS: Readonly<Record<string, StopKind>> = {
  STOP: 'end',
  MAX_TOKENS: 'length',
  SAFETY: 'refusal',
  RECITATION: 'refusal',
  BLOCKLIST: 'refusal',
  PROHIBITED_CONTENT: 'refusal',
  SPII: 'refusal',
  IMAGE_SAFETY: 'refusal',
  IMAGE_PROHIBITED_CONTENT: 'refusal',
  IMAGE_RECITATION: 'refusal',
  MALFORMED_FUNCTION_CALL: 'malformed_call',
  UNEXPECTED_TOOL_CALL: 'malformed_call',
  CONTINUATION: 'pause',
};

const REASONS: Readonly<Record<StopKind, string>> = {
  end: 'STOP',
  tool_calls: 'STOP',
  stop_sequence: 'STOP',
  length: 'MAX_TOKENS',
  context_exceeded: 'MAX_TOKENS',
  refusal: 'SAFETY',
  malformed_call: 'MALFORMED_FUNCTION_CALL',
  pause: 'CONTINUATION',
  other: 'OTHER',
};

/** @param calls the answer holds calls, which have no reason of their own here */
export function readFinishReason(raw: string, calls: boolean): Stop {
  const kind = Object.hasOwn(KINDS, raw) ? (KINDS[raw] as StopKind) : 'other';
  return { kind: stopWithCalls(kind, calls), raw };
}

export function writeFinishReason({ kind }: Stop): string {
  return REASONS[kind];
}
