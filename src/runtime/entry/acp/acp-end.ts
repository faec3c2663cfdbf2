import type { PromptResponse, StopReason } from '@agentclientprotocol/sdk';
import { RPC, RpcError } from '../json-rpc.ts';
import type { TurnEnd } from '../turn-watch.ts';

/** Reasons that ACP has another name for; every other one is `end_turn`. */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  refusal: 'refusal',
  budget_reached: 'max_tokens',
};

/**
 * The result of a prompt. A turn that waits for its client ends it: how to answer is told in `_meta`,
 * and the answer goes to the Session.
 *
 * @throws RpcError `internalError` for a turn that failed, or that ended with its Session
 */
export function toPromptResult({ type, reason, isInterrupted, error }: TurnEnd): PromptResponse {
  if (isInterrupted && type !== 'deleted') return { stopReason: 'cancelled' };
  if (type === 'retries_exhausted') {
    if (error?.['type'] === 'tool_use_limit_reached_error')
      return { stopReason: 'max_turn_requests' };
    const { type: kind, message } = error ?? {};
    const told = typeof message === 'string' ? message : 'the turn failed';
    throw new RpcError(RPC.internalError, told, { type: kind });
  }
  if (reason === null) throw new RpcError(RPC.internalError, `the session is ${type}`);
  const stopReason = STOP_REASONS[type] ?? 'end_turn';
  return type === 'requires_action'
    ? { stopReason, _meta: { 'gateway/stop_reason': reason } }
    : { stopReason };
}
