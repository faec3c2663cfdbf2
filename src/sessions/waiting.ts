import { GatewayError } from '../core/errors.ts';
import type { InputType, SessionEvent } from './log/session-event.ts';
import type { SessionLog } from './log/session-log.ts';
import type { Session } from './session.ts';

/** Calls that the sentence names; of more, it gives the number. */
const MAX_NAMED = 3;

/** A call of a tool that the client of a Session must answer. */
export interface WaitingCall {
  /** Id of its event, which the answer names. */
  readonly id: string;
  /** Type of the event that answers it: a permission, or the result of what the client runs. */
  readonly answered_by: InputType & `user.${string}tool_${string}`;
  readonly name: string;
  /** Declared name of its MCP server; null for a call of another kind. */
  readonly server: string | null;
  /** Absent where the role of the reader shows no content. */
  readonly input?: unknown;
}

/** What a Session waits for. */
export interface Waiting {
  /** ISO 8601, the instant at which it began to wait. */
  readonly since: string;
  /** One sentence for people. */
  readonly message: string;
  readonly calls: readonly WaitingCall[];
}

type Waiter = Pick<Session, 'id' | 'awaiting' | 'waitingSince' | 'updatedAt' | 'archivedAt'>;

/** What the Session waits for; null: for nothing. Costs a read for each call. Rejects with `StoreError`. */
export async function waitingOf(log: SessionLog, session: Waiter): Promise<Waiting | null> {
  const { id, awaiting, waitingSince, updatedAt, archivedAt } = session;
  // An archived one takes no answer any more.
  if (awaiting.length === 0 || archivedAt !== null) return null;
  const calls = await Promise.all(awaiting.map((call) => readCall(log, id, call)));
  return {
    // A row from before it was noted began to wait with its last event.
    since: waitingSince == null ? updatedAt : new Date(waitingSince).toISOString(),
    message: `the session waits for an answer to ${toNames(calls)}`,
    calls,
  };
}

async function readCall(log: SessionLog, session: string, id: string): Promise<WaitingCall> {
  const seq = await log.numberOf(session, id);
  const call = seq === undefined ? undefined : await log.eventAt(session, seq);
  const server = call?.['mcp_server_name'];
  return {
    id,
    answered_by:
      call?.type === 'agent.custom_tool_use'
        ? 'user.custom_tool_result'
        : (await wantsPermission(log, session, { seq, call }))
          ? 'user.tool_confirmation'
          : 'user.tool_result',
    name: String(call?.['name']),
    server: typeof server === 'string' ? server : null,
    input: call?.['input'] ?? {},
  };
}

/** A call that the client runs itself waits for its permission first, and then for its result. */
async function wantsPermission(
  log: SessionLog,
  session: string,
  { seq, call }: { seq: number | undefined; call: SessionEvent | undefined },
): Promise<boolean> {
  if (call?.type !== 'agent.tool_use') return true;
  if (call['evaluated_permission'] !== 'ask') return false;
  for await (const chunk of log.chunks(session, { after: seq })) {
    const isGiven = ({ type, tool_use_id: id }: SessionEvent): boolean =>
      type === 'user.tool_confirmation' && id === call.id;
    if (chunk.some(({ event }) => isGiven(event))) return false;
  }
  return true;
}

function toNames(calls: readonly WaitingCall[]): string {
  const names = calls.slice(0, MAX_NAMED).map(({ name, id }) => `the call ${name} (${id})`);
  const more = calls.length - names.length;
  return [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/**
 * Refuses input that depends on what the Session waits for.
 *
 * @param awaited id of the event that it must wait for an answer to; null: none, or its turn is being
 *   interrupted
 * @throws GatewayError `conflict` of the type `session_not_waiting`, or of `session_waiting` with the
 *   names of the calls
 */
export async function checkAwaited(
  log: SessionLog,
  row: Waiter,
  awaited: string | null,
): Promise<void> {
  if (awaited !== null && !row.awaiting.includes(awaited)) {
    const message = `the session does not wait for an answer to ${awaited} any more`;
    throw new GatewayError('conflict', { message, type: 'session_not_waiting', retry: false });
  }
  if (awaited !== null || row.awaiting.length === 0 || (await isInterrupted(log, row.id))) return;
  const waiting = await waitingOf(log, row);
  const message = `${waiting?.message}; send it to POST /v1/sessions/${row.id}/events, or end the turn there with user.interrupt`;
  throw new GatewayError('conflict', { message, type: 'session_waiting', retry: false });
}

/** True when the waiting turn was requested to end, and its runner has not done so yet. */
async function isInterrupted(log: SessionLog, id: string): Promise<boolean> {
  for await (const chunk of log.chunks(id, { order: 'desc' })) {
    for (const { event } of chunk) {
      if (event.type === 'user.interrupt') return true;
      if (event.type === 'session.status_idle') return false;
    }
  }
  return false;
}
