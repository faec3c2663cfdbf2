import { GatewayError } from '../../core/errors.ts';
import { noteOutcome } from '../outcome.ts';
import { answerOf, awaitedBy, moveOf, STATUS_MOVES } from '../status-moves.ts';
import type { NewEvent, PlacedEvent } from './session-event.ts';
import type { SessionRow } from '../session-row.ts';
import type { SessionStatus } from '../session.ts';

/** An event that has its id: a commit that is tried again appends the same one. */
export type IdentifiedEvent = NewEvent & { readonly id: string };

/**
 * Appends events to a row: gives them their numbers, moves the status as they say, and notes what turns must
 * look at.
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
  // A row has many members, and a commit many events: one copy for all of them.
  const next: Draft = { ...row, lastAt: at, updatedAt: processed_at };
  for (const event of events) {
    const seq = next.head + 1;
    const to = moveOf(event);
    noteOutcome(next, event);
    if (to === undefined) takeInput(next, event, seq);
    else move(next, to, { awaited: awaitedBy(event), at });
    next.head = seq;
    placed.push({ seq, event: { ...event, processed_at } });
  }
  return { row: next, placed };
}

/** A row on its way. */
type Draft = { -readonly [Member in keyof SessionRow]: SessionRow[Member] };

function takeInput(row: Draft, event: IdentifiedEvent, seq: number): void {
  if (!event.type.startsWith('user.')) return;
  const answered = answerOf(event)?.id;
  row.lastInput = seq;
  if (event.type === 'user.message') row.queued += 1;
  if (answered !== undefined) row.awaiting = row.awaiting.filter((id) => id !== answered);
}

function move(
  row: Draft,
  to: SessionStatus,
  { awaited, at }: { awaited: readonly string[]; at: number },
): void {
  if (!STATUS_MOVES[row.status].includes(to)) {
    const message = `a session cannot go from ${row.status} to ${to}`;
    throw new GatewayError('conflict', { message, retry: false });
  }
  const since = row.runningSince ?? at;
  if (row.status === 'idle' && to === 'running' && !row.isPaused) {
    row.queued = Math.max(0, row.queued - 1);
    if (row.turns !== undefined) row.turns += 1;
  }
  row.status = to;
  row.isPaused = to === 'idle' && awaited.length > 0;
  row.awaiting = to === 'idle' ? awaited : [];
  row.waitingSince = row.isPaused ? (row.waitingSince ?? at) : null;
  if (to !== 'running') row.activeMs += at - since;
  row.runningSince = to === 'running' ? since : null;
  if (to === 'idle' && awaited.length === 0) row.goes = 1;
}
