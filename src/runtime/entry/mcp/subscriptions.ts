import { z } from 'zod';
import type { CallResult } from '../../../inference/types.ts';
import { watchCaller } from '../caller-watch.ts';
import type { EntryCall } from '../entry-call.ts';
import { isPlaced } from '../follow-turn.ts';
import { RpcError, toNotification, toResult } from '../json-rpc.ts';
import { createMessageStream } from '../message-stream.ts';
import { replyForm } from '../reply-form.ts';
import type { McpDeps } from './mcp-deps.ts';
import { parseParams } from './mcp-methods.ts';
import { Refusal } from './refusal.ts';
import { enterRoom } from './stream-room.ts';
import { needTasks } from './modern-request.ts';
import type { ModernRequest } from './modern-request.ts';
import { STREAM_HEADERS, toModernResult } from './modern-result.ts';
import { findTask, isOver } from './tasks.ts';
import type { TaskCall } from './tasks.ts';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const MAX_TASKS = 100;

/** Only tasks change: the tools of a Service are always the same. */
const params = z.object({
  notifications: z.object({ taskIds: z.array(z.string()).max(MAX_TASKS).optional() }),
});

/**
 * Answers with a stream of the notifications that the client asked for, until it leaves, its key is refused or the
 * gateway stops.
 *
 * @throws Refusal 406 for a client that takes no stream, 429 with too many of them; RpcError
 */
export async function listen(
  request: ModernRequest,
  call: EntryCall,
  deps: McpDeps,
): Promise<CallResult> {
  const { id, takesForms } = request;
  const { notifications } = parseParams(params, request.params);
  if (notifications.taskIds) needTasks(request);
  const form = replyForm(call.exchange.request.headers.accept, true);
  if (form === 'json') throw new Refusal(406, 'Accept: text/event-stream is required');
  const reader = { ...call, takesForms };
  const taskIds = await knownOf(notifications.taskIds ?? [], reader, deps);
  const leave = enterRoom(deps.room, call.service.organization, Math.max(1, taskIds.length));
  // Its client could make no call with a bound of one at a time.
  call.leave();
  const caller = watchCaller(call.exchange, deps.standing);
  const stream = createMessageStream(form, { clock: deps.clock, caller, headers: STREAM_HEADERS });
  const _meta = { [SUBSCRIPTION]: id };
  const tell = (method: string, told: object): Promise<void> =>
    stream.write(toNotification(`notifications/${method}`, { ...told, _meta }));
  const over = new AbortController();
  const forgetKey = call.watchKey(() => over.abort());
  const signal = AbortSignal.any([caller.signal, over.signal]);
  signal.addEventListener('abort', () => {
    forgetKey();
    leave();
    caller.done();
    void stream.write(toResult(id, toModernResult({ _meta }, call.service)));
    stream.end();
  });
  if (signal.aborted) signal.dispatchEvent(new Event('abort'));
  const known = notifications.taskIds ? { taskIds } : {};
  void tell('subscriptions/acknowledged', { notifications: known });
  for (const taskId of taskIds)
    followTask(taskId, { reader, deps, signal, tell: (task) => tell('tasks', task) }).catch(
      // The task is gone.
      (thrown: unknown) => {
        if (!(thrown instanceof RpcError)) deps.onBug(thrown, call.exchange.id);
      },
    );
  return stream.reply;
}

async function knownOf(ids: readonly string[], reader: TaskCall, deps: McpDeps): Promise<string[]> {
  const known: string[] = [];
  for (const id of new Set(ids)) {
    const found = findTask(id, reader, deps).then(
      () => known.push(id),
      (thrown: unknown) => {
        if (!(thrown instanceof RpcError)) throw thrown;
      },
    );
    await found;
  }
  return known;
}

interface Following {
  readonly reader: TaskCall;
  readonly deps: McpDeps;
  readonly signal: AbortSignal;
  tell(task: object): Promise<void>;
}

/** Reports the state of a task, and every change of it until it is over. */
async function followTask(
  taskId: string,
  { reader, deps, signal, tell }: Following,
): Promise<void> {
  const { organization } = reader.service;
  let told = '';
  const look = async (): Promise<boolean> => {
    const { task } = await findTask(taskId, reader, deps);
    const state = [task.status, ...Object.keys(task.inputRequests ?? {})].join(' ');
    if (state !== told) await tell(task);
    told = state;
    return isOver(task);
  };
  const { sent } = await findTask(taskId, reader, deps);
  const followed = await deps.sessions.follow(organization, sent.sessionId, { signal });
  if (await look()) return;
  for await (const item of followed)
    if (isPlaced(item) && item.event.type.startsWith('session.') && (await look())) return;
}
