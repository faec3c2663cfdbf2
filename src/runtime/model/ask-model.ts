import { GatewayError, toGatewayError } from '../../core/errors.ts';
import type { FunctionTool } from '../../protocols/canonical/canonical.ts';
import type { NewEvent } from '../../sessions/log/session-event.ts';
import type { Session } from '../../sessions/session.ts';
import type { RequestOrigin } from '../../usage/origin.ts';
import { collectTools } from '../tools/agent-tools.ts';
import type { CallableTool } from '../tools/agent-tools.ts';
import { toAnswerEvents } from '../turn/answer-events.ts';
import { LEFT_OUT_NOTE, toLeaveOut } from '../turn/fit-context.ts';
import { interruptible } from '../turn/interruptible.ts';
import { ModelCallError } from '../turn/model-caller.ts';
import type { ModelAnswer } from '../turn/model-caller.ts';
import { CONTEXT_EXCEEDED, toErrorEvent, toModelFailure } from '../tools/model-failure.ts';
import { toModelRequest } from './model-request.ts';
import type { ServerFailure } from '../tools/server-pool.ts';
import { toServerErrorEvent } from '../tools/server-failure.ts';
import { ShownAnswer } from '../turn/shown-answer.ts';
import type { TurnContext } from '../turn/turn-context.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import { idle, requestEnd } from '../turn/turn-events.ts';

/** Failed requests in a row after which the turn is given up. */
const MAX_RETRIES = 5;
/** A model that answers within this time has the start of its request in one commit with the answer. */
const START_MS = 25;
const OVER = { status: 'idle', isLast: true } as const;

/** One model request from its start to its end, both of them in the log. */
export function askModel(context: TurnContext): Promise<void> {
  const { journal, pool, agent, deps, signal } = context;
  return interruptible(journal, signal, async (stopped) => {
    const listed = await pool.list(stopped).catch((thrown: unknown) => {
      if (stopped.aborted) return undefined;
      throw thrown;
    });
    if (!listed) return;
    const tools = collectTools(agent.tools, listed.tools);
    const startId = await begin(context, { tools, failures: listed.failures });
    if (journal.state.isInterrupted) return;
    const late = deps.clock.setTimeout(() => void flush(journal), START_MS);
    const shown = new ShownAnswer(journal);
    try {
      const answer = await ask(context, { tools, shown, stopped });
      await record(context, startId, {
        answer,
        events: toAnswerEvents(answer.parts, tools, shown),
      });
    } catch (thrown) {
      if (!(thrown instanceof ModelCallError)) throw thrown;
      if (signal.aborted) return;
      await fail(context, startId, thrown);
    } finally {
      late.cancel();
    }
  });
}

/** A store failure rejects the next append. */
async function flush(journal: TurnJournal): Promise<void> {
  await journal.flush().catch(() => undefined);
}

interface Beginning {
  readonly tools: Asking['tools'];
  readonly failures: readonly ServerFailure[];
}

/**
 * Ends the open request of a former attempt, so that every request in the log has one end. A start
 * without which a takeover does the same is written while the model is asked already. Entries that
 * do not fit are out of the conversation from this event on: every replay of the log asks the same.
 */
async function begin(
  { journal, deps, agent, instructions, files }: TurnContext,
  { tools, failures }: Beginning,
): Promise<string> {
  const { requestId } = journal.state;
  const id = journal.log.nextEventId();
  const tokens = agent.model ? deps.model.roomOf(agent.model.id) : Infinity;
  const leftOut = await toLeaveOut(journal.state, {
    tokens,
    instructions,
    tools: toShown(tools),
    findFile: (id) => files.find(id),
  });
  const before = [
    ...(requestId === undefined ? [] : [requestEnd(requestId, { isError: true })]),
    ...failures.map(toServerErrorEvent),
  ];
  const start: NewEvent = {
    type: 'span.model_request_start',
    id,
    ...(leftOut > 0 && { context_left_out: leftOut }),
  };
  const isAlone = before.length === 0 && leftOut === 0;
  if (isAlone && !journal.log.isWatched && !journal.state.isInterrupted) journal.defer(start);
  else await journal.append([...before, start]);
  return id;
}

interface Asking {
  readonly tools: ReadonlyMap<string, CallableTool>;
  readonly shown: ShownAnswer;
  readonly stopped: AbortSignal;
}

const toShown = (tools: Asking['tools']): FunctionTool[] =>
  [...tools.values()].map((tool) => tool.shown);

async function ask(
  { journal, deps, agent, instructions, files }: TurnContext,
  { tools, shown, stopped }: Asking,
): Promise<ModelAnswer> {
  const { payer } = journal.log.session;
  const { model } = agent;
  if (!model) throw new ModelCallError(noModel(), { usage: undefined, cost: 0 });
  const answer = await deps.model.ask({
    model: model.id,
    request: await toModelRequest({
      model,
      instructions:
        journal.state.leftOut > 0 ? `${instructions}\n\n${LEFT_OUT_NOTE}`.trim() : instructions,
      entries: journal.state.entries,
      tools: toShown(tools),
      files,
    }),
    payer,
    origin: originOf(journal.log.session),
    listener: shown,
    signal: stopped,
  });
  const { kind } = answer.stop;
  if (kind === 'context_exceeded') throw new ModelCallError(tooLong(), answer);
  if (kind === 'malformed_call')
    throw new ModelCallError(new GatewayError('invalid_upstream_response'), answer);
  return answer;
}

/** A Session is a conversation: its calls stay on one route, and are summed and limited together. */
function originOf({ id, agent, endpointId, deploymentId }: Session): RequestOrigin {
  return {
    conversation: id,
    ...(agent.id !== null && { agent: agent.id }),
    ...(endpointId !== null && { service: endpointId }),
    ...(deploymentId !== null && { schedule: deploymentId }),
  };
}

function tooLong(): GatewayError {
  const message = 'the conversation is longer than the model can read';
  return new GatewayError('invalid_request', { message, type: CONTEXT_EXCEEDED });
}

function noModel(): GatewayError {
  return new GatewayError('invalid_request', { message: 'the agent names no model' });
}

async function record(
  { journal }: TurnContext,
  startId: string,
  { answer, events }: { answer: ModelAnswer; events: readonly NewEvent[] },
): Promise<void> {
  const { usage, cost } = answer;
  const end = requestEnd(startId, { isError: false, usage });
  const hasCalls = events.some(({ type }) => type.endsWith('tool_use'));
  if (hasCalls) await journal.append([...events, end], { usage, cost });
  else await journal.append([...events, end, ...toEnding(answer)], { usage, cost, ...OVER });
}

/** Ends a turn whose last answer called no tool. */
function toEnding({ stop, parts }: ModelAnswer): NewEvent[] {
  const refusal = parts.find((part) => part.type === 'refusal');
  if (refusal || stop.kind === 'refusal')
    return [idle({ type: 'refusal', explanation: refusal?.text || null })];
  return [idle({ type: 'end_turn' })];
}

async function fail(
  { journal, deps }: TurnContext,
  startId: string,
  { cause, usage, cost }: ModelCallError,
): Promise<void> {
  const { isTransient, isTooLong, isRefused: mayBeOfContent, ...error } = toModelFailure(cause);
  const isRefused = mayBeOfContent && journal.state.hasNewAttachments;
  const end = requestEnd(startId, { isError: true, usage, isTooLong, isRefused });
  const over = { usage, cost, ...OVER };
  if (journal.state.isInterrupted) {
    await journal.append([end, idle({ type: 'end_turn' })], over);
    return;
  }
  if (toGatewayError(cause).code === 'internal_error') deps.onBug(cause, journal.log.session.id);
  const mayPass = isTransient || (isTooLong && journal.state.dispensable.length > 0);
  if (!mayPass || journal.state.failures >= MAX_RETRIES) {
    const told = toErrorEvent(error, 'exhausted');
    await journal.append([end, told, idle({ type: 'retries_exhausted' })], over);
    return;
  }
  const told = toErrorEvent(error, 'retrying');
  await journal.append([end, told, { type: 'session.status_rescheduled' }], {
    usage,
    cost,
    status: 'rescheduling',
  });
}
