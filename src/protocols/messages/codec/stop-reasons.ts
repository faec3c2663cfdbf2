import { isJsonObject } from '../../../core/json/value.ts';
import type { Part, Stop, StopKind } from '../../canonical/canonical.ts';
import { stopWithCalls } from '../../canonical/stop-kind.ts';
import type { Members } from './members.ts';

const REASONS = {
  end: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  stop_sequence: 'stop_sequence',
  refusal: 'refusal',
  pause: 'pause_turn',
  context_exceeded: 'model_context_window_exceeded',
  malformed_call: 'end_turn',
  other: 'end_turn',
} as const satisfies Record<StopKind, string>;

const KINDS: ReadonlyMap<unknown, StopKind> = new Map(
  (Object.keys(REASONS) as StopKind[])
    .filter((kind) => kind !== 'malformed_call' && kind !== 'other')
    .map((kind) => [REASONS[kind], kind]),
);

/** Reads the reason for which a message, or the delta at its end, stopped. */
export function fromStopReason(
  { stop_reason: raw, stop_sequence: sequence }: Members,
  hasCalls: boolean,
): Stop {
  return {
    kind: stopWithCalls(KINDS.get(raw) ?? 'other', hasCalls),
    ...(typeof raw === 'string' && { raw }),
    ...(typeof sequence === 'string' && { sequence }),
  };
}

/** The official word for it; reasons that have none become `end_turn`. */
export function toStopReason({ kind, sequence }: Stop, said: ReadonlySet<Part['type']>): Members {
  const told = said.has('refusal') ? 'refusal' : stopWithCalls(kind, said.has('tool_call'));
  return {
    stop_reason: REASONS[told],
    stop_sequence: told === 'stop_sequence' ? (sequence ?? null) : null,
  };
}

/** The provider's words about why it refused. */
export function refusalOf({ stop_details: details }: Members): string | undefined {
  const told = isJsonObject(details) ? details['explanation'] : undefined;
  return typeof told === 'string' && told !== '' ? told : undefined;
}
