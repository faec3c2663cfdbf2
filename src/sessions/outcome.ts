import type { SessionRow } from './session-row.ts';
import type { Session } from './session.ts';

export type OutcomeType = 'running' | 'completed' | 'waiting' | 'failed' | 'ended_by_time';

/** What became of the work of a Session, for people and scripts (requirement schedules.outcome). */
export interface SessionOutcome {
  readonly type: OutcomeType;
  /** Null while it runs. */
  readonly reason: string | null;
  /** Why it failed or was ended; null for every other one. */
  readonly message: string | null;
}

/** Reason of the outcome of a Session that a client has stopped. */
export const INTERRUPTED = 'interrupted';
const TERMINATED = 'terminated';
/** In characters: the row of a Session is written with every event. */
const MAX_MESSAGE = 500;

const TYPES: Readonly<Record<string, OutcomeType>> = {
  end_turn: 'completed',
  refusal: 'completed',
  requires_action: 'waiting',
  [TERMINATED]: 'ended_by_time',
};

type Ended = Pick<Session, 'status' | 'rest' | 'turns'> &
  Partial<Pick<SessionRow, 'queued' | 'isPaused'>>;

/** Null before its first turn, and for a Session from before the end of turns was kept. */
export function outcomeOf(session: Ended): SessionOutcome | null {
  const { status, rest, turns, queued = 0, isPaused = false } = session;
  // One with a message left is about to begin its next turn.
  const isNext = status === 'idle' && !isPaused && queued > 0;
  if (isNext || status === 'running' || status === 'rescheduling')
    return { type: 'running', reason: null, message: null };
  if (!rest && (status === 'idle' || turns !== 0)) return null;
  const { reason, message } = rest ?? { reason: TERMINATED, message: null };
  const type = TYPES[reason] ?? 'failed';
  const isShown = type === 'failed' || type === 'ended_by_time';
  return { type, reason, message: isShown ? message : null };
}

/** An event, as far as the outcome depends on it. */
interface Seen {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Members of a row in which the outcome is kept. */
interface Kept {
  readonly status: Session['status'];
  readonly isPaused: boolean;
  rest?: Session['rest'];
  turnError?: string | null | undefined;
}

/**
 * Notes what an event says about the outcome in the row as it was before the event. A Session that had ended its
 * work keeps that outcome when its time is over.
 */
export function noteOutcome(row: Kept, event: Seen): void {
  const { type, error, stop_reason: stop } = event;
  const isOpen = row.status !== 'idle' || row.isPaused;
  const isInterrupted = row.rest?.reason === INTERRUPTED;
  if (type === 'session.error') {
    const { message } = (error ?? {}) as { message?: unknown };
    row.turnError = typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : null;
  } else if (type === 'user.interrupt' && isOpen) {
    row.rest = { reason: INTERRUPTED, message: 'a client interrupted it' };
  } else if (type === 'session.status_running') {
    row.turnError = null;
    if (!isOpen || !isInterrupted) row.rest = undefined;
  } else if (type === 'session.status_idle') {
    const reason = String((stop as { type?: unknown } | null)?.type);
    if (reason === 'end_turn' && isInterrupted && isOpen) return;
    row.rest = { reason, message: row.turnError ?? null };
  } else if (type === 'session.status_terminated' && isOpen) {
    row.rest = { reason: TERMINATED, message: row.turnError ?? null };
  }
}
