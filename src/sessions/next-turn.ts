import { placeEvents } from './log/place-events.ts';
import type { IdentifiedEvent } from './log/place-events.ts';
import type { RowChange, SessionLog } from './log/session-log.ts';
import type { SessionRow } from './session-row.ts';

interface NextTurn extends RowChange {
  /** The turn continues, or another one begins. */
  readonly isFollowed: boolean;
}

/**
 * Adds to the events of a turn that ends with messages left the beginning of the next one, in the same commit:
 * no reader finds the Session idle with its work undone.
 */
export function withNextTurn(
  log: SessionLog,
  row: SessionRow,
  events: readonly IdentifiedEvent[],
): NextTurn {
  const { status, isPaused, queued } = placeEvents(row, events, row.lastAt).row;
  const isIdle = status === 'idle' && !isPaused;
  const isNext = isIdle && queued > 0;
  const next = isNext ? log.identify([{ type: 'session.status_running' }]) : [];
  return { row, events: [...events, ...next], isFollowed: isNext || !isIdle };
}
