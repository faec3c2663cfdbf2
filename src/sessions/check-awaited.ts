import { GatewayError } from '../core/errors.ts';
import type { SessionLog } from './log/session-log.ts';
import type { SessionRow } from './session-row.ts';

/** Calls that the error names; of more, it gives the number. */
const MAX_NAMED = 3;

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
  row: SessionRow,
  awaited: string | null,
): Promise<void> {
  if (awaited !== null && !row.awaiting.includes(awaited)) {
    const message = `the session does not wait for an answer to ${awaited} any more`;
    throw new GatewayError('conflict', { message, type: 'session_not_waiting', retry: false });
  }
  if (awaited !== null || row.awaiting.length === 0 || (await isInterrupted(log, row.id))) return;
  const message = `the session waits for an answer to ${await toNames(log, row)}; send it to POST /v1/sessions/${row.id}/events, or end the turn there with user.interrupt`;
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

async function toNames(log: SessionLog, { id, awaiting }: SessionRow): Promise<string> {
  const names: string[] = [];
  for (const eventId of awaiting.slice(0, MAX_NAMED)) {
    const seq = await log.numberOf(id, eventId);
    const call = seq === undefined ? undefined : await log.eventAt(id, seq);
    names.push(`the call ${String(call?.['name'])} (${eventId})`);
  }
  const more = awaiting.length - names.length;
  return [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
