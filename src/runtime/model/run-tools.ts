import { inLanes } from '../tools/in-lanes.ts';
import { answersOf, toQuestionEvents } from '../turn/elicitations.ts';
import { interruptible } from '../turn/interruptible.ts';
import { toServerErrorEvent } from '../tools/server-failure.ts';
import { toFailedOutcome } from '../tools/tool-content.ts';
import { ToolServerError } from '../tools/tool-server.ts';
import type { ToolServer } from '../tools/tool-server.ts';
import type { ToolUse } from '../tools/tool-use.ts';
import type { TurnContext } from '../turn/turn-context.ts';
import { INTERRUPTED_OUTCOME, toolResult } from '../turn/turn-events.ts';

/** Calls of one answer that run at once. */
const LANES = 8;

/** Runs calls on their servers, each result in the log as soon as it is there. */
export async function runTools(uses: readonly ToolUse[], context: TurnContext): Promise<void> {
  // After a crash, it shows the next worker that they may have begun.
  await context.journal.settle();
  await interruptible(context.journal, context.signal, (stopped) =>
    inLanes(uses, LANES, (use) => runTool(use, context, stopped)),
  );
}

async function runTool(use: ToolUse, context: TurnContext, stopped: AbortSignal): Promise<void> {
  if (stopped.aborted) return;
  const { journal, pool } = context;
  const server = use.server ?? '';
  try {
    const isAllowed = await mayRun(use, context, stopped);
    if (stopped.aborted) return;
    context.begun.add(use.id);
    const outcome = isAllowed
      ? await callTool(use, pool.get(server), stopped)
      : INTERRUPTED_OUTCOME;
    // A server with questions has ended the call, to be called again with the answers.
    const isAsking = 'questions' in outcome;
    if (isAsking) context.begun.delete(use.id);
    await journal.append(isAsking ? toQuestionEvents(use, outcome) : [toolResult(use, outcome)]);
  } catch (thrown) {
    // An interrupt ends all calls; a go that leaves off says nothing.
    if (stopped.aborted) return;
    if (!(thrown instanceof ToolServerError)) throw thrown;
    const result = toolResult(use, toFailedOutcome(thrown.message));
    await journal.append([result, toServerErrorEvent({ server, error: thrown })]);
  }
}

async function callTool(use: ToolUse, server: ToolServer, stopped: AbortSignal) {
  const { name, input } = use;
  const answers = answersOf(use);
  return answers && server.answer
    ? await server.answer({ name, input, answers }, stopped)
    : await server.call(name, input, stopped);
}

/** A call that a former go may have begun runs again only where that changes nothing. */
async function mayRun(
  { id, name, server = '' }: ToolUse,
  { pool, begun }: TurnContext,
  stopped: AbortSignal,
): Promise<boolean> {
  if (!begun.has(id)) return true;
  const tool = await pool.describe(server, name, stopped);
  return tool?.isReadOnly === true || tool?.isIdempotent === true;
}
