import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { NewEvent } from '../sessions/session-event.ts';
import { collectTools } from './agent-tools.ts';
import type { CallableTool } from './agent-tools.ts';
import { toAnswerEvents } from './answer-events.ts';
import { interruptible } from './interruptible.ts';
import { ModelCallError } from './model-caller.ts';
import type { ModelAnswer } from './model-caller.ts';
import { toErrorEvent, toModelFailure } from './model-failure.ts';
import { toModelRequest } from './model-request.ts';
import type { ServerFailure } from './server-pool.ts';
import { toServerErrorEvent } from './server-failure.ts';
import { ShownAnswer } from './shown-answer.ts';
import type { TurnContext } from './turn-context.ts';
import { idle, requestEnd } from './turn-events.ts';

/** Failed requests in a row after which the turn is given up. */
const MAX_RETRIES = 5;

/** One model request from its start to its end, both of them in the log. */
export function askModel(context: TurnContext): Promise<void> {
  const { journal, pool, agent, signal } = context;
  return interruptible(journal, signal, async (stopped) => {
    const listed = await pool.list(stopped).catch((thrown: unknown) => {
      if (stopped.aborted) return undefined;
      throw thrown;
    });
    if (!listed) return;
    const startId = await begin(context, listed.failures);
    if (journal.state.isInterrupted) return;
    const tools = collectTools(agent.tools, listed.tools);
    const shown = new ShownAnswer(journal.log);
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
    }
  });
}

/** Ends what a former go left open, so that every request in the log has one end. */
async function begin(
  { journal }: TurnContext,
  failures: readonly ServerFailure[],
): Promise<string> {
  const { requestId } = journal.state;
  const id = journal.log.nextEventId();
  await journal.append([
    ...(requestId === undefined ? [] : [requestEnd(requestId, { isError: true })]),
    ...failures.map(toServerErrorEvent),
    { type: 'span.model_request_start', id },
  ]);
  return id;
}

interface Asking {
  readonly tools: ReadonlyMap<string, CallableTool>;
  readonly shown: ShownAnswer;
  readonly stopped: AbortSignal;
}

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
      instructions,
      entries: journal.state.entries,
      tools: [...tools.values()].map((tool) => tool.shown),
      files,
    }),
    payer,
    listener: shown,
    signal: stopped,
  });
  if (answer.stop.kind !== 'malformed_call') return answer;
  throw new ModelCallError(new GatewayError('invalid_upstream_response'), answer);
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
  else await journal.append([...events, end, ...toEnding(answer)], { usage, cost, status: 'idle' });
}

/** How a turn ends whose last answer called no tool. */
function toEnding({ stop, parts }: ModelAnswer): NewEvent[] {
  const refusal = parts.find((part) => part.type === 'refusal');
  if (refusal || stop.kind === 'refusal')
    return [idle({ type: 'refusal', explanation: refusal?.text || null })];
  if (stop.kind !== 'context_exceeded') return [idle({ type: 'end_turn' })];
  const message = 'the conversation is longer than the model can read';
  const error = { type: 'model_request_failed_error', message };
  return [toErrorEvent(error, 'exhausted'), idle({ type: 'retries_exhausted' })];
}

async function fail(
  { journal, deps }: TurnContext,
  startId: string,
  { cause, usage, cost }: ModelCallError,
): Promise<void> {
  const end = requestEnd(startId, { isError: true, usage });
  const over = { usage, cost, status: 'idle' } as const;
  if (journal.state.isInterrupted) {
    await journal.append([end, idle({ type: 'end_turn' })], over);
    return;
  }
  if (toGatewayError(cause).code === 'internal_error') deps.onBug(cause, journal.log.session.id);
  const { isTransient, ...error } = toModelFailure(cause);
  if (!isTransient || journal.state.failures >= MAX_RETRIES) {
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
