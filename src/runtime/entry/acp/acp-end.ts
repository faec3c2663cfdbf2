import type { PromptResponse, StopReason } from '@agentclientprotocol/sdk';
import { RPC, RpcError } from '../json-rpc.ts';
import type { TurnEnd } from '../turn-watch.ts';

/** Reasons that ACP has another name for; every other one is `end_turn`. */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  refusal: 'refusal',
  budget_reached: 'max_tokens',
};

/**
 * The result of a prompt. A turn that waits for its client ends it, with the reason in `_meta`;
 * the answer goes to the Session.
 *
 * @throws RpcError `internalError` for a turn that failed, or that ended with its Session;
 *   `invalidRequest` for one that has not begun, because another waits for its client
 */
export function toPromptResult(end: TurnEnd): PromptResponse {
  const { type, reason, isInterrupted, isOwn, error } = end;
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
  if (type !== 'requires_action') return { stopReason };
  if (isOwn) return { stopReason, _meta: { 'gateway/stop_reason': reason } };
  const message = `the turn before waits for an answer to ${String(reason['event_ids'])}; this one begins when that one ends`;
  throw new RpcError(RPC.invalidRequest, message, { type: 'session_waiting' });
}
