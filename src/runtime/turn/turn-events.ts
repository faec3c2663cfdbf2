import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { CUT_OFF, NOT_BEGUN } from '../../sessions/open-ends.ts';
import type { NewEvent } from '../../sessions/log/session-event.ts';
import { isPermitted } from '../tools/tool-use.ts';
import type { ToolUse } from '../tools/tool-use.ts';
import { toFailedOutcome } from '../tools/tool-content.ts';
import type { ToolOutcome } from '../tools/tool-server.ts';

export type StopReason =
  | { readonly type: 'end_turn' | 'retries_exhausted' | 'budget_reached' }
  | { readonly type: 'requires_action'; readonly event_ids: readonly string[] }
  | { readonly type: 'refusal'; readonly explanation: string | null };

/** The turn rests or is over. */
export function idle(reason: StopReason): NewEvent {
  if (reason.type !== 'refusal')
    return { type: 'session.status_idle', stop_reason: reason, stop_details: null };
  const { type, explanation } = reason;
  return {
    type: 'session.status_idle',
    stop_reason: { type },
    stop_details: { type, category: null, explanation },
  };
}

export interface RequestEnd {
  readonly isError: boolean;
  readonly usage?: Usage | undefined;
  /** The conversation is longer than the model can read. Default: false. */
  readonly isTooLong?: boolean;
  /** It was refused, maybe for its images or documents: they are left out from now on. Default: false. */
  readonly isRefused?: boolean;
}

/** The end of a model request, with its usage. */
export function requestEnd(
  startId: string,
  { isError, usage = NO_USAGE, isTooLong = false, isRefused = false }: RequestEnd,
): NewEvent {
  return {
    type: 'span.model_request_end',
    model_request_start_id: startId,
    is_error: isError,
    ...(isTooLong && { context_exceeded: true }),
    ...(isRefused && { attachments_refused: true }),
    model_usage: {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cache_read_input_tokens: usage.cacheRead,
      cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    },
  };
}

/** The result of a call; only the client sends that of a custom tool. */
export function toolResult({ kind, id }: ToolUse, { content, isError }: ToolOutcome): NewEvent {
  return kind === 'mcp'
    ? { type: 'agent.mcp_tool_result', mcp_tool_use_id: id, content, is_error: isError }
    : { type: 'agent.tool_result', tool_use_id: id, content, is_error: isError };
}

/**
 * Results of the calls that will get no answer any longer. One that was never permitted, or that
 * `mayHaveBegun` denies, had no effect, and its result says so.
 */
export function openResults(
  uses: readonly ToolUse[],
  mayHaveBegun: (use: ToolUse) => boolean = () => true,
): NewEvent[] {
  return uses
    .filter((use) => !use.result && use.kind !== 'custom')
    .map((use) => {
      const isCutOff = isPermitted(use) && mayHaveBegun(use);
      return toolResult(use, isCutOff ? INTERRUPTED_OUTCOME : NOT_BEGUN_OUTCOME);
    });
}

/** The call may or may not have had its effect. */
export const INTERRUPTED_OUTCOME: ToolOutcome = toFailedOutcome(CUT_OFF);

const NOT_BEGUN_OUTCOME: ToolOutcome = toFailedOutcome(NOT_BEGUN);
