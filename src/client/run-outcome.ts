import type { OutcomeType } from '../sessions/outcome.ts';
import { collect } from './http/pages.ts';
import type { SessionsClient, SessionView } from './sessions.ts';

/** What became of a run: that of its Session (requirement schedules.outcome). */
export interface RunOutcome {
  /** `pending` before there is a Session, `unknown` where the key may not see it or it is gone. */
  readonly type: OutcomeType | 'pending' | 'unknown';
  readonly reason: string | null;
  /** Why it failed, what its Session waits for, or why it is unknown. */
  readonly message: string | null;
}

interface Decided {
  readonly session_id: string | null;
  readonly error: { readonly type: string; readonly message: string } | null;
}

export type WithOutcome<T> = T & { readonly outcome: RunOutcome };

/** Most ids that one list of Sessions takes. */
const MAX_IDS = 100;

/** Outcomes after which nothing follows by itself. */
export function isAtRest({ type }: RunOutcome): boolean {
  return type !== 'pending' && type !== 'running';
}

/** Outcomes that were not what the run was for. */
export function isFailure({ type }: RunOutcome): boolean {
  return type === 'failed' || type === 'ended_by_time';
}

/**
 * The runs with what became of them, from one list of their Sessions for each hundred. A key without the scope
 * `sessions` finds the outcome unknown.
 */
export async function withOutcomes<T extends Decided>(
  sessions: Pick<SessionsClient, 'list'>,
  runs: readonly T[],
  signal?: AbortSignal,
): Promise<WithOutcome<T>[]> {
  const ids = runs.flatMap(({ session_id: id }) => id ?? []);
  const parts = Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_part, at) =>
    ids.slice(at * MAX_IDS, (at + 1) * MAX_IDS),
  );
  let why = 'its Session was deleted';
  const lists = parts.map(async (some) => {
    const filters = { ids: some.join(','), include_archived: 'true' };
    try {
      return await collect(sessions.list(filters, signal), some.length);
    } catch (thrown) {
      if ((thrown as { status?: unknown }).status !== 403) throw thrown;
      why = 'this key may not see Sessions; it needs the scope `sessions`';
      return [];
    }
  });
  const found = new Map((await Promise.all(lists)).flat().map((one) => [one.id, one]));
  return runs.map((run) => ({ ...run, outcome: toOutcome(run, found, why) }));
}

function toOutcome(
  { session_id: id, error }: Decided,
  sessions: ReadonlyMap<string, SessionView>,
  why: string,
): RunOutcome {
  if (error !== null) return { type: 'failed', reason: error.type, message: error.message };
  if (id === null) return { type: 'pending', reason: null, message: null };
  const session = sessions.get(id);
  const { outcome, waiting } = session ?? {};
  if (outcome) return waiting ? { ...outcome, message: waiting.message } : outcome;
  const message = session ? `its Session is ${session.status}` : why;
  return { type: 'unknown', reason: null, message };
}
