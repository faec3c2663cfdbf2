import { z } from 'zod';
import { GatewayError } from '../../../core/errors.ts';
import type { EntryCall } from '../entry-call.ts';
import { readTurn } from '../follow-turn.ts';
import { RPC, RpcError } from '../json-rpc.ts';
import type { SentMessage } from '../service-runs.ts';
import type { TurnEnd } from '../turn-watch.ts';
import { findSent, toTurnResult, TurnEvents } from './call-tool.ts';
import type { ToolDeps } from './call-tool.ts';
import { parseParams } from './mcp-methods.ts';
import { questionsOf, takeAnswers } from './questions.ts';
import type { Questions } from './questions.ts';
import { needTasks } from './modern-request.ts';
import type { ModernRequest } from './modern-request.ts';
import type { CalledFor } from './request-state.ts';

/** The turn of a message, as the extension of tasks shows it. It is read from the log, on any process. */
export interface Task {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'cancelled';
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** It lives as long as the events of its Session. */
  readonly ttlMs: null;
  readonly pollIntervalMs: number;
  readonly inputRequests?: Questions;
  readonly result?: object;
}

export interface TaskCall extends Pick<EntryCall, 'service' | 'seesAll'> {
  /** The client shows forms to its user. Without, a turn that waits for an answer has ended for it. */
  readonly takesForms: boolean;
}

const POLL_MS = 1_000;

/** Between the ids of a Session and of a message, neither of which has it. */
const SEPARATOR = '.';

export function toTaskId({ sessionId, event }: SentMessage): string {
  return `${sessionId}${SEPARATOR}${event.id}`;
}

function fromTaskId(taskId: string): CalledFor {
  const [sessionId = '', messageId = ''] = taskId.split(SEPARATOR);
  return { sessionId, messageId };
}

/** @throws RpcError `invalidParams` for a task that is not there or not shown to the caller */
export async function findTask(taskId: string, call: TaskCall, deps: ToolDeps) {
  const sent = await findSent(deps.sessions, call, fromTaskId(taskId)).catch((thrown: unknown) => {
    if (!(thrown instanceof GatewayError) || thrown.code !== 'not_found') throw thrown;
    throw new RpcError(RPC.invalidParams, 'taskId: no task of this Service has this id');
  });
  return { sent, ...(await taskOf(sent, call, deps)) };
}

/** The task of a message. `isUnderWay`: its turn is the one that an interrupt ends. */
async function taskOf(sent: SentMessage, call: TaskCall, { sessions }: ToolDeps) {
  const { sessionId, event } = sent;
  const { organization } = call.service;
  const events = new TurnEvents(sent);
  let last = event;
  let end: TurnEnd | undefined;
  const place = { organization, sessionId, messageId: event.id };
  const watch = await readTurn(sessions, place, (item, itsEnd) => {
    events.add(item);
    last = item;
    if (!(call.takesForms && itsEnd?.type === 'requires_action')) end = itsEnd;
    return end !== undefined;
  });
  const { wait, isCurrent } = watch;
  const asked = !end && isCurrent && wait ? await questionsOf(sessions, place) : undefined;
  // An archived Session takes no answer.
  if (asked && Object.keys(asked).length === 0) end = wait;
  const task = (
    state: Pick<Task, 'status' | 'statusMessage' | 'inputRequests' | 'result'>,
  ): Task => ({
    taskId: toTaskId(sent),
    createdAt: event.processed_at,
    lastUpdatedAt: last.processed_at,
    ttlMs: null,
    pollIntervalMs: POLL_MS,
    ...state,
  });
  if (end?.isInterrupted) return { task: task({ status: 'cancelled' }), isUnderWay: false };
  if (end) {
    const result = toTurnResult(sessionId, { events: events.list, end });
    return { task: task({ status: 'completed', result }), isUnderWay: false };
  }
  if (asked) {
    const state = { status: 'input_required', inputRequests: asked } as const;
    return { task: task(state), isUnderWay: true };
  }
  const statusMessage = isCurrent
    ? 'the agent is at work'
    : wait
      ? 'the turn before it waits for an answer'
      : 'the turn has not begun';
  return { task: task({ status: 'working', statusMessage }), isUnderWay: isCurrent };
}

/** Task of a message that was just sent. */
export function newTask(sent: SentMessage, call: TaskCall, deps: ToolDeps): Promise<Task> {
  return taskOf(sent, call, deps).then(({ task }) => task);
}

export function isOver({ status }: Task): boolean {
  return status === 'completed' || status === 'cancelled';
}

const named = z.object({ taskId: z.string() });
const update = named.extend({ inputResponses: z.record(z.string(), z.unknown()) });

export async function getTask(
  request: ModernRequest,
  call: EntryCall,
  deps: ToolDeps,
): Promise<Task> {
  needTasks(request);
  const { taskId } = parseParams(named, request.params);
  const { takesForms } = request;
  return (await findTask(taskId, { ...call, takesForms }, deps)).task;
}

export async function updateTask(
  request: ModernRequest,
  call: EntryCall,
  deps: ToolDeps,
): Promise<object> {
  needTasks(request);
  const { taskId, inputResponses: answers } = parseParams(update, request.params);
  const { sent } = await findTask(taskId, { ...call, takesForms: true }, deps);
  await takeAnswers(deps.sessions, call, { sessionId: sent.sessionId, answers });
  return {};
}

/** Interrupts the turn of the task; one that has not begun stays in its line. */
export async function cancelTask(
  request: ModernRequest,
  call: EntryCall,
  deps: ToolDeps,
): Promise<object> {
  needTasks(request);
  const { taskId } = parseParams(named, request.params);
  const { sent, isUnderWay } = await findTask(taskId, { ...call, takesForms: true }, deps);
  const { organization } = call.service;
  const interrupt = [{ type: 'user.interrupt' }];
  if (isUnderWay)
    await deps.sessions.send(organization, sent.sessionId, interrupt).catch((thrown: unknown) => {
      // It has ended meanwhile.
      if (!(thrown instanceof GatewayError)) throw thrown;
    });
  return {};
}
