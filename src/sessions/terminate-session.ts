import type { Whose } from './log/send-events.ts';
import type { NewEvent } from './log/session-event.ts';
import { noSession } from './log/session-log.ts';
import type { SessionLog } from './log/session-log.ts';
import type { Termination } from './sessions.ts';

/** See `Sessions.terminate`. Whoever runs its turn finds that it is no longer theirs. */
export async function terminateSession(
  log: SessionLog,
  { organization, id }: Whose,
  { reason, onlyIf = () => true }: Termination,
): Promise<boolean> {
  const error = {
    type: 'unknown_error',
    message: reason,
    retry_status: { type: 'terminal' },
  };
  const last: NewEvent[] = [
    { type: 'session.error', error },
    { type: 'session.status_terminated' },
  ];
  const events = log.identify(last);
  const changed = await log.change(id, (row) => {
    if (row?.organization !== organization) throw noSession();
    if (row.status === 'terminated' || !onlyIf(row)) return undefined;
    return { row: { ...row, turn: null }, events };
  });
  return changed !== undefined;
}
