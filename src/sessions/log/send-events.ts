import { GatewayError } from '../../core/errors.ts';
import type { Job, Jobs } from '../../jobs/jobs.ts';
import { checkAwaited } from '../waiting.ts';
import { parseInputEvents } from './input-events.ts';
import { placeEvents } from './place-events.ts';
import type { IdentifiedEvent } from './place-events.ts';
import type { NewEvent, SessionEvent } from './session-event.ts';
import { noSession } from './session-log.ts';
import type { Changed, RowChange, SessionLog } from './session-log.ts';
import type { SessionRow } from '../session-row.ts';
import type { SessionInput } from '../sessions.ts';
import { answerOf } from '../status-moves.ts';
import { CommitStart } from '../../jobs/commit-start.ts';
import { TURN_JOB } from './job-kinds.ts';

export interface SendDeps {
  readonly log: SessionLog;
  readonly jobs: Jobs;
}

export interface Whose {
  readonly organization: string;
  readonly id: string;
}

/** Events without a message are an input, too. */
export function toInput(input: SessionInput | readonly unknown[]): SessionInput {
  return 'events' in input ? input : { events: input };
}

/** See `Sessions.send`. */
export async function sendEvents(
  { log, jobs }: SendDeps,
  { organization, id }: Whose,
  { events: sent, awaited, also }: SessionInput,
): Promise<SessionEvent[]> {
  const found = await log.load(organization, id);
  refuseClosed(found, sent);
  const input = parseInputEvents(sent, 'events');
  await checkAnswers(log, id, input);
  const events = log.identify(input);
  const toSent = ({ placed }: Changed) => placed.slice(0, events.length).map(({ event }) => event);
  const start = new CommitStart(jobs);
  const make = async (row: SessionRow | undefined): Promise<RowChange> => {
    if (row?.organization !== organization) throw noSession();
    refuseClosed(row, input);
    if (awaited !== undefined) await checkAwaited(log, row, awaited);
    const ops = callsForTurn(events) ? await start.opsFor(turnJob(id, organization)) : [];
    const all = [...events, ...log.identify(statusAfter(row, events))];
    return { row, events: all, ops, ...(also && { also: (made) => also(toSent(made)) }) };
  };
  const changed = await log.change(id, make).catch((thrown: unknown) => {
    start.settle();
    throw thrown;
  });
  start.settle(changed?.version);
  if (!changed) throw noSession();
  return toSent(changed);
}

/** Concurrency limit per organization. */
export const turnJob = (id: string, organization: string): Job => ({
  kind: TURN_JOB,
  id,
  payload: null,
  holder: organization,
});

/** True when the events start a turn; those of the operator's side are read at the next message. */
export function callsForTurn(events: readonly NewEvent[]): boolean {
  return events.some(({ type }) => type !== 'system.message');
}

/**
 * Events that the input adds to an idle Session: it runs, or it names the calls still to be answered. They are
 * in the same commit, so that no reader finds it idle with its work undone.
 */
export function statusAfter(row: SessionRow, events: readonly IdentifiedEvent[]): NewEvent[] {
  if (row.status !== 'idle') return [];
  const { awaiting } = placeEvents(row, events, row.lastAt).row;
  const isAnswered = awaiting.length < row.awaiting.length;
  if (awaiting.length === 0) {
    const isCalled = isAnswered || events.some(({ type }) => type === 'user.message');
    return isCalled ? [{ type: 'session.status_running' }] : [];
  }
  if (!isAnswered) return [];
  const stop_reason = { type: 'requires_action', event_ids: awaiting };
  return [{ type: 'session.status_idle', stop_reason, stop_details: null }];
}

/**
 * Refuses input of a closed Session; what an archived one still does can be stopped, which brings
 * it nothing new.
 */
function refuseClosed({ status, archivedAt }: SessionRow, sent: readonly unknown[]): void {
  const state = status === 'terminated' ? 'terminated' : archivedAt === null ? null : 'archived';
  if (state === null || (state === 'archived' && status !== 'idle' && isStop(sent))) return;
  const message = `the session is ${state} and no longer accepts input`;
  throw new GatewayError('conflict', { message, retry: false });
}

function isStop(sent: readonly unknown[]): boolean {
  return sent.every((event) => (event as { type?: unknown } | null)?.type === 'user.interrupt');
}

/** Answers must name a call of this Session (requirement sessions.events.send-validation). */
async function checkAnswers(
  log: SessionLog,
  id: string,
  events: readonly NewEvent[],
): Promise<void> {
  for (const [index, event] of events.entries()) {
    const answer = answerOf(event);
    if (!answer) continue;
    const seq = await log.numberOf(id, answer.id);
    const asked = seq === undefined ? undefined : await log.eventAt(id, seq);
    if (asked && answer.to.includes(asked.type)) continue;
    const param = `events[${index}].${answer.member}`;
    const message = `${param}: no ${answer.to.join(' or ')} event of this session has this id`;
    throw new GatewayError('invalid_request', { message, param });
  }
}
