import { isJsonObject } from '../../../core/json/value.ts';
import type { Stop, StopKind } from '../../canonical/canonical.ts';
import { stopWithCalls } from '../../canonical/stop-kind.ts';
import { textOf } from './fields.ts';
import type { Members } from '../../json-fields.ts';

/** Undefined for a Response that is not finished. */
export function readStop(response: Members, hasCalls: boolean): Stop | undefined {
  const { status, incomplete_details: details } = response;
  if (status === 'completed') return { kind: hasCalls ? 'tool_calls' : 'end', raw: status };
  if (status !== 'incomplete') return undefined;
  const reason = isJsonObject(details) ? textOf(details['reason']) : '';
  const kind = REASONS.get(reason) ?? 'other';
  return { kind: stopWithCalls(kind, hasCalls), raw: reason || status };
}

const REASONS: ReadonlyMap<string, StopKind> = new Map<string, StopKind>([
  ['max_output_tokens', 'length'],
  ['content_filter', 'refusal'],
]);

export interface Ending {
  status: 'completed' | 'incomplete';
  incomplete_details: { reason: string } | null;
}

export function writeStop({ kind }: Stop): Ending {
  const reason = INCOMPLETE[kind];
  return reason === undefined
    ? { status: 'completed', incomplete_details: null }
    : { status: 'incomplete', incomplete_details: { reason } };
}

const INCOMPLETE: Partial<Record<StopKind, string>> = {
  length: 'max_output_tokens',
  context_exceeded: 'max_output_tokens',
  refusal: 'content_filter',
};
