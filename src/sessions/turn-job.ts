import type { JobHandler, JobResult, JobRun } from '../jobs/jobs.ts';
import type { Entry } from '../store/store.ts';
import { withNextTurn } from './next-turn.ts';
import { openEnds } from './open-ends.ts';
import type { NewEvent, PlacedEvent } from './log/session-event.ts';
import { sessionKey } from './session-row.ts';
import type { SessionRow } from './session-row.ts';
import type { SessionLog } from './log/session-log.ts';
import type { TurnRunner } from './sessions.ts';
import { TurnFence } from './log/turn-fence.ts';
import { FencedTurnLog } from './log/turn-log.ts';

/** Consecutive failed attempts, crashes included, before the turn is abandoned. */
const MAX_FAILURES = 5;

export interface TurnJobOptions {
  readonly log: SessionLog;
  readonly runner: TurnRunner;
}

/** One go at the turns of one Session. */
interface Go {
  readonly log: SessionLog;
  readonly runner: TurnRunner;
  readonly id: string;
  readonly fence: TurnFence;
  /** Aborted with the job, and when another runner has the Session or it is deleted. */
  readonly stop: AbortController;
  readonly pause: JobRun['pause'];
  readonly toEnd: JobRun['toEnd'];
}

/**
 * Runs turns until no input is left, and ends only if none arrives meanwhile. Of two processes that take
 * themselves for the one that runs it, only the later can append. A turn that fails is tried again with
 * backoff and given up after five goes, so no Session runs for ever.
 */
export function createTurnJob({ log, runner }: TurnJobOptions): JobHandler {
  return async ({ job: { id }, attempt, signal, failures, ...run }: JobRun) => {
    const begun = await begin(log, id, attempt);
    if (!begun) return 'done';
    const stop = new AbortController();
    const onAbort = (): void => stop.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) stop.abort();
    const { pause, toEnd, forgive } = run;
    const { row, fence, entry } = begun;
    const go = { log, runner, id, fence, stop, pause, toEnd };
    try {
      return ownFailures(failures, row) < MAX_FAILURES
        ? await runTurns(go, entry)
        : await giveUp(go);
    } catch (error) {
      if (signal.aborted) throw error;
      if (stop.signal.aborted) return 'done';
      forgive?.(ownFailures(failures, (await ownEntry(go)).value));
      await noteFailure(go);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  };
}

interface Begun {
  readonly row: SessionRow;
  /** The same as it was read; absent where it was changed since. */
  readonly entry?: Entry<SessionRow>;
  readonly fence: TurnFence;
}

/**
 * Keeps former runs of the job from appending; undefined for a deleted Session. The first run has no former
 * one, and saves a commit.
 */
async function begin(log: SessionLog, id: string, attempt: number): Promise<Begun | undefined> {
  const turn = log.newTurnId();
  if (attempt === 1) {
    const entry = await log.find(id);
    if (!entry || entry.value.status === 'terminated') return undefined;
    const { value: row } = entry;
    return { row, entry, fence: new TurnFence(turn, row.turn) };
  }
  const fence = new TurnFence(turn);
  const begun = await log.change(id, (row) =>
    row && row.status !== 'terminated' ? { row: fence.enter(row) } : undefined,
  );
  return begun && { row: begun.row, fence };
}

/** The job may have failed at turns before this one, too, which came to their end. */
function ownFailures(failures: number, { goes }: SessionRow): number {
  return Math.max(0, Math.min(failures, (goes ?? 0) - 1));
}

async function runTurns(go: Go, read?: Entry<SessionRow>): Promise<JobResult> {
  let seen: number | undefined;
  for (let first = read; ; first = undefined) {
    const entry = first ?? (await ownEntry(go));
    const { value: row } = entry;
    // A run that leaves input lying waits for the client; what arrived meanwhile it may not have seen.
    if (row.status === 'terminated' || (row.lastInput === seen && !isBusy(row)))
      return doneIfUnchanged(entry);
    if (row.lastInput === seen) throw new Error('the turn was left off before its end');
    seen = row.lastInput;
    if (await runTurn(go, entry)) return 'ended';
    go.stop.signal.throwIfAborted();
  }
}

/** True when the go has ended with the turn. */
async function runTurn(go: Go, entry: Entry<SessionRow>): Promise<boolean> {
  const { log, runner, id, fence, stop, pause, toEnd } = go;
  const session = await log.withAgent(entry.value);
  if (!session) {
    stop.abort();
    return false;
  }
  const turnLog = new FencedTurnLog(log, session, {
    fence,
    entry,
    toEnd,
    // One that waits for its client takes no room from those that could run.
    onStatus: (status) => pause?.(status === 'idle'),
  });
  const look = (): void => void lookAgain(go, turnLog);
  // Events that the turn itself appends come this way, too.
  const ring = (placed: PlacedEvent[]): void => {
    if (placed.some(({ event }) => event.type.startsWith('user.'))) look();
  };
  const leave = [log.store.watch(sessionKey(id), look), log.live.add(id, { ring, show() {} })];
  try {
    await runner.run(turnLog, stop.signal);
    return turnLog.isOver;
  } catch (error) {
    // Nothing is tried again after the end.
    if (!turnLog.isOver) throw error;
    return true;
  } finally {
    for (const end of leave) end();
    pause?.(false);
  }
}

/** The Session has changed: it may have another runner now, or there is input. */
async function lookAgain({ log, id, fence, stop }: Go, turnLog: FencedTurnLog): Promise<void> {
  try {
    const entry = await log.find(id);
    if (entry && fence.owns(entry.value)) turnLog.see(entry);
    else stop.abort();
  } catch {
    // The turn gets the error of a failing store at its next append.
  }
}

async function ownEntry({ log, id, fence, stop }: Go): Promise<Entry<SessionRow>> {
  const entry = await log.find(id);
  if (entry && fence.owns(entry.value)) return entry;
  stop.abort();
  throw new Error('another process runs this turn');
}

function isBusy({ status }: SessionRow): boolean {
  return status === 'running' || status === 'rescheduling';
}

function doneIfUnchanged({ key, version }: Entry<SessionRow>): JobResult {
  return { doneIf: [{ type: 'check', key, ifVersion: version }] };
}

const failed = (message: string, retry: 'retrying' | 'exhausted'): NewEvent => ({
  type: 'session.error',
  error: { type: 'unknown_error', message, retry_status: { type: retry } },
});

/** The details are for the log of the gateway. */
async function noteFailure(go: Go): Promise<void> {
  const error = failed('the turn failed and is tried again', 'retrying');
  await appendTo(go, (row) => ({
    row,
    events: row.status === 'running' ? [error, { type: 'session.status_rescheduled' }] : [error],
  }));
}

/**
 * Ends the turn, so that no client waits for it for ever; input that waits after it gets runs of its own. A
 * Session without anything to end only gets the failure.
 */
async function giveUp(go: Go): Promise<JobResult> {
  const error = failed('the turn failed again and again', 'exhausted');
  const stop_reason = { type: 'retries_exhausted' };
  const idle: NewEvent = { type: 'session.status_idle', stop_reason, stop_details: null };
  const running: NewEvent = { type: 'session.status_running' };
  const { value: before } = await ownEntry(go);
  await appendTo(go, async (row) => ({
    row: { ...row, handled: row.lastInput },
    events: [
      ...(await openEnds(go.log, go.id)),
      error,
      ...(row.status === 'rescheduling' ? [running] : []),
      ...(isBusy(row) || row.lastInput > row.handled ? [idle] : []),
    ],
  }));
  const after = await ownEntry(go);
  const { lastInput, handled } = after.value;
  const isLeft = isBusy(before) || isBusy(after.value) || lastInput > handled;
  return isLeft ? { againInMs: 0 } : doneIfUnchanged(after);
}

interface Given {
  readonly row: SessionRow;
  readonly events: readonly NewEvent[];
}

async function appendTo(
  { log, id, fence }: Go,
  make: (row: SessionRow) => Given | Promise<Given>,
): Promise<void> {
  await log.change(id, async (row) => {
    if (!row || !fence.owns(row)) return undefined;
    const { row: next, events } = await make(fence.enter(row));
    return withNextTurn(log, next, log.identify(events));
  });
}
