import type { RequestPermissionRequest, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { SessionEvent } from '../../../sessions/log/session-event.ts';
import type { Sessions } from '../../../sessions/sessions.ts';
import { awaitedBy } from '../../../sessions/status-moves.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import { toRequest } from '../json-rpc.ts';
import type { RpcResponse } from '../json-rpc.ts';
import { findShown } from '../shown-session.ts';
import type { SessionReader } from '../shown-session.ts';

/**
 * Names the methods that the caller can be asked by, separated by commas. A request is among the
 * updates of a prompt; its answer is a POST of its own.
 */
export const CLIENT_METHODS_HEADER = 'x-gateway-client-methods';

export const REQUEST_PERMISSION = 'session/request_permission';

const OPTIONS = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
] satisfies RequestPermissionRequest['options'];

/** The calls of one turn that the client of a prompt is asked about. */
export class AcpPermissions {
  readonly #sessionId: string;
  readonly #calls = new Map<string, SessionEvent>();
  readonly #open = new Set<string>();

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** The turn waits for nothing else than answers of the client that was asked. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Requests that an event of the turn gives rise to; every call is asked about once. */
  take(event: SessionEvent): object[] {
    if (event['evaluated_permission'] === 'ask') this.#calls.set(event.id, event);
    if (event.type === 'user.tool_confirmation') this.#open.delete(String(event['tool_use_id']));
    if (event.type !== 'session.status_idle') return [];
    const awaited = awaitedBy(event);
    for (const id of this.#open) if (!awaited.includes(id)) this.#open.delete(id);
    return awaited.flatMap((id) => {
      const call = this.#calls.get(id);
      if (!call) return [];
      this.#calls.delete(id);
      this.#open.add(id);
      return [this.#toRequest(call)];
    });
  }

  #toRequest({ id, name, input }: SessionEvent): object {
    const toolCall: ToolCallUpdate = {
      toolCallId: id,
      title: String(name),
      kind: 'other',
      status: 'pending',
      rawInput: input,
    };
    const params: RequestPermissionRequest = {
      sessionId: this.#sessionId,
      toolCall,
      options: OPTIONS,
    };
    return toRequest(`${this.#sessionId}/${id}`, REQUEST_PERMISSION, params);
  }
}

/**
 * Hands the answer to a request of `AcpPermissions` to its Session, on whichever process it arrives. One
 * that is no answer to a call that still waits, in a Session that is shown to the caller, changes nothing.
 * Rejects with `StoreError`.
 */
export async function takePermission(
  { id, result }: RpcResponse,
  caller: SessionReader,
  sessions: Sessions,
): Promise<void> {
  const [sessionId, eventId] = typeof id === 'string' ? id.split('/') : [];
  if (sessionId === undefined || eventId === undefined) return;
  try {
    await findShown(sessions, caller, sessionId);
    const events = [toInput(eventId, result)];
    await sessions.send(caller.service.organization, sessionId, { events, awaited: eventId });
  } catch (thrown) {
    // Another answer came first, or the Session has ended or is not shown to the caller.
    if (!(thrown instanceof GatewayError)) throw thrown;
  }
}

/** A client that cancels the prompt says so here, too; whatever is no consent is a refusal. */
function toInput(id: string, result: unknown): object {
  const outcome = isJsonObject(result) && isJsonObject(result['outcome']) ? result['outcome'] : {};
  if (outcome['outcome'] === 'cancelled') return { type: 'user.interrupt' };
  const answer = { type: 'user.tool_confirmation', tool_use_id: id };
  if (outcome['outcome'] !== 'selected')
    return { ...answer, result: 'deny', deny_message: 'The client could not ask its user.' };
  return { ...answer, result: outcome['optionId'] === 'allow' ? 'allow' : 'deny' };
}
