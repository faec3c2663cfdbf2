import { GatewayError } from '../../core/errors.ts';
import { answerOf, awaitedBy, moveOf, STATUS_MOVES } from '../status-moves.ts';
import type { NewEvent, PlacedEvent } from './session-event.ts';
import type { SessionRow } from '../session-row.ts';
import type { SessionStatus } from '../session.ts';

/** An event that has its id: a commit that is tried again appends the same one. */
export type IdentifiedEvent = NewEvent & { readonly id: string };

/**
 * Appends events to a row: gives them their places, moves the status as they say, and notes what turns
 * must look at.
 *
 * @throws GatewayError `conflict` for a move that the table does not allow
 */
export function placeEvents(
  row: SessionRow,
  events: readonly IdentifiedEvent[],
  now: number,
): { row: SessionRow; placed: PlacedEvent[] } {
  // The wall clock may step back; the order of the log may not.
  const at = Math.max(now, row.lastAt);
  const processed_at = new Date(at).toISOString();
  const placed: PlacedEvent[] = [];
  let next: SessionRow = { ...row, lastAt: at, updatedAt: processed_at };
  for (const event of events) {
    const seq = next.head + 1;
    const to = moveOf(event);
    next =
      to === undefined
        ? takeInput(next, event, seq)
        : move(next, to, { awaited: awaitedBy(event), at });
    next = { ...next, head: seq };
    placed.push({ seq, event: { ...event, processed_at } });
  }
  return { row: next, placed };
}

function takeInput(row: SessionRow, event: IdentifiedEvent, seq: number): SessionRow {
  if (!event.type.startsWith('user.')) return row;
  const answered = answerOf(event)?.id;
  const awaiting = row.awaiting.filter((id) => id !== answered);
  const queued = event.type === 'user.message' ? row.queued + 1 : row.queued;
  return { ...row, lastInput: seq, queued, awaiting };
}

function move(
  row: SessionRow,
  to: SessionStatus,
  { awaited, at }: { awaited: readonly string[]; at: number },
): SessionRow {
  if (!STATUS_MOVES[row.status].includes(to)) {
    const message = `a session cannot go from ${row.status} to ${to}`;
    throw new GatewayError('conflict', { message, retry: false });
  }
  const since = row.runningSince ?? at;
  const begins = row.status === 'idle' && to === 'running' && !row.isPaused;
  return {
    ...row,
    status: to,
    queued: begins ? Math.max(0, row.queued - 1) : row.queued,
    ...(begins && row.turns !== undefined && { turns: row.turns + 1 }),
    isPaused: to === 'idle' && awaited.length > 0,
    awaiting: to === 'idle' ? awaited : [],
    activeMs: to === 'running' ? row.activeMs : row.activeMs + at - since,
    runningSince: to === 'running' ? since : null,
    goes: to === 'idle' && awaited.length === 0 ? 1 : row.goes,
  };
}
