import type { NewEvent } from '../../sessions/log/session-event.ts';
import type { TurnRunner } from '../../sessions/sessions.ts';
import { askModel } from './ask-model.ts';
import { AttachedFiles } from '../turn/attached-files.ts';
import { toInstructions } from '../turn/instructions.ts';
import { toErrorEvent } from '../tools/model-failure.ts';
import { KeptStates } from '../turn/kept-states.ts';
import { nextStep } from '../turn/next-step.ts';
import type { Step } from '../turn/next-step.ts';
import { runTools } from './run-tools.ts';
import { ServerPool } from '../tools/server-pool.ts';
import { SKILL_TOOL, withSkillServer, withSkillTool } from './skill-server.ts';
import { isRunnable } from '../tools/tool-use.ts';
import type { ToolUse } from '../tools/tool-use.ts';
import { toFailedOutcome } from '../tools/tool-content.ts';
import type { ModelLoopDeps, TurnContext } from '../turn/turn-context.ts';
import { idle, openResults, requestEnd, toolResult } from '../turn/turn-events.ts';
import type { StopReason } from '../turn/turn-events.ts';
import { TurnJournal } from '../turn/turn-journal.ts';
import { pause } from '../../core/time/pause.ts';
import { interruptible } from '../turn/interruptible.ts';

const FIRST_MS = 1000;
const MAX_MS = 30_000;

/** Waits before a failed model request is made again; false when it is not to be made. */
function backOff({ journal, deps, signal }: TurnContext): Promise<boolean> {
  const ms = Math.min(MAX_MS, FIRST_MS * 2 ** Math.max(0, journal.state.failures - 1));
  // Spread, so that what failed together does not come back together.
  const spread = ms * (0.75 + deps.random() / 2);
  return interruptible(journal, signal, (stopped) => pause(spread, deps.clock, stopped));
}

const RUNNING: NewEvent = { type: 'session.status_running' };

const TOO_MANY: NewEvent = toErrorEvent(
  {
    type: 'tool_use_limit_reached_error',
    message: 'the turn called tools in too many rounds',
  },
  'exhausted',
);

/**
 * Runs turns by asking the Agent's model and its tools in turn (requirements sessions.turn.*). Every
 * step is in the log before the next begins and is chosen only from the log, so any process can
 * continue after any of them: a request without an answer is made again; a call of a tool that may
 * have begun is answered with an error, unless its server says that repeating it changes nothing.
 */
export function createModelLoop(deps: ModelLoopDeps): TurnRunner {
  const kept = new KeptStates();
  return {
    async run(log, signal) {
      const { id } = log.session;
      const journal = new TurnJournal(log, kept.take(id));
      const context = await open(journal, signal, deps);
      try {
        await go(context);
        if (!signal.aborted) kept.keep(id, journal.state);
      } catch (thrown) {
        if (!signal.aborted) throw thrown;
      } finally {
        await context.pool.close();
      }
    },
  };
}

async function open(
  journal: TurnJournal,
  signal: AbortSignal,
  deps: ModelLoopDeps,
): Promise<TurnContext> {
  await journal.sync();
  const { session } = journal.log;
  const skills = session.agent.skills.length === 0 ? [] : await deps.skills(session);
  const agent = withSkillTool(session.agent, skills);
  return {
    journal,
    pool: new ServerPool({ ...session, agent }, withSkillServer(deps.servers, skills)),
    deps,
    agent,
    instructions: toInstructions(agent, skills, SKILL_TOOL),
    files: new AttachedFiles((id) => deps.file(session, id)),
    begun: toSuspects(journal),
    signal,
  };
}

/**
 * Calls that a former go may have begun: it says so by having taken up the input that called for them
 * before it begins.
 */
function toSuspects({ log: { session }, state }: TurnJournal): Set<string> {
  const { phase, calledAt, uses } = state;
  const isUnderWay = phase === 'running' || phase === 'rescheduled';
  const begun = isUnderWay && session.handled >= calledAt ? uses.filter(isRunnable) : [];
  return new Set(begun.map(({ id }) => id));
}

async function go(context: TurnContext): Promise<void> {
  const { journal, pool, signal } = context;
  while (!signal.aborted) {
    const step = nextStep(journal.state);
    if (step.type === 'rest') return journal.settle();
    const { turns } = journal.state;
    await take(step, context);
    if (journal.log.isOver) return;
    await journal.sync();
    if (journal.state.turns > turns) pool.forgive();
  }
}

async function take(step: Exclude<Step, { type: 'rest' }>, context: TurnContext): Promise<void> {
  switch (step.type) {
    case 'start':
      return start(context);
    case 'ask':
      return context.journal.isSpent
        ? rest(context, loose(context), { type: 'budget_reached' })
        : askModel(context);
    case 'run':
      return runTools(step.uses, context);
    case 'deny':
      return deny(step.uses, context);
    case 'wait':
      return rest(context, [], { type: 'requires_action', event_ids: step.ids });
    case 'back_off':
      return (await backOff(context)) ? start(context) : undefined;
    case 'skip':
      return rest(context, [RUNNING], { type: 'end_turn' });
    case 'stop':
      return rest(context, loose(context), { type: 'end_turn' });
    case 'give_up':
      return rest(context, [...loose(context), TOO_MANY], { type: 'retries_exhausted' });
  }
}

async function start({ journal }: TurnContext): Promise<void> {
  await journal.append([RUNNING], { status: 'running' });
}

async function rest(
  { journal }: TurnContext,
  events: readonly NewEvent[],
  reason: StopReason,
): Promise<void> {
  await journal.append([...events, idle(reason)], { status: 'idle', isLast: true });
}

async function deny(uses: readonly ToolUse[], { journal }: TurnContext): Promise<void> {
  const results = uses.map((use) =>
    toolResult(use, toFailedOutcome(use.verdict?.message ?? 'The user denied this call.')),
  );
  await journal.append(results);
}

/** Ends the open calls and request of a turn given up. A status reaches idle only from running. */
function loose({ journal, begun }: TurnContext): NewEvent[] {
  const { phase, requestId, uses } = journal.state;
  return [
    ...(phase === 'rescheduled' ? [RUNNING] : []),
    ...(requestId === undefined ? [] : [requestEnd(requestId, { isError: true })]),
    ...openResults(
      uses,
      ({ kind, id, questions }) => kind !== 'mcp' || begun.has(id) || !!questions,
    ),
  ];
}
