import { placeEvents } from './log/place-events.ts';
import type { IdentifiedEvent } from './log/place-events.ts';
import type { RowChange, SessionLog } from './log/session-log.ts';
import type { SessionRow } from './session-row.ts';

/**
 * Completes the events that a turn appends: where they end it with messages left, the next turn
 * begins in the same commit, so that nobody finds the Session idle with its work undone.
 */
export function withNextTurn(
  log: SessionLog,
  row: SessionRow,
  events: readonly IdentifiedEvent[],
): RowChange {
  const { status, isPaused, queued } = placeEvents(row, events, row.lastAt).row;
  const isNext = status === 'idle' && !isPaused && queued > 0;
  const next = isNext ? log.identify([{ type: 'session.status_running' }]) : [];
  return { row, events: [...events, ...next] };
}
