import type { NewEvent } from '../../sessions/log/session-event.ts';
import type { TurnLog, TurnRunner } from '../../sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { AttachedFiles } from '../turn/attached-files.ts';
import { interruptible } from '../turn/interruptible.ts';
import { nextStep } from '../turn/next-step.ts';
import type { TurnContent } from '../turn/turn-content.ts';
import { idle, openResults, requestEnd } from '../turn/turn-events.ts';
import type { StopReason } from '../turn/turn-events.ts';
import { TurnJournal } from '../turn/turn-journal.ts';
import type { TurnState } from '../turn/turn-state.ts';
import { AgentPool } from './agent-pool.ts';
import { HarnessError, toHarnessEvent } from './harness-error.ts';
import { runHarnessTurn } from './harness-turn.ts';
import type { HarnessContext } from './harness-turn.ts';
import { createSessionDirectories } from './session-directories.ts';
import { startAgent } from './start-agent.ts';
import type { StartAgentDeps } from './start-agent.ts';
import { whenAborted, within } from './within.ts';

export interface HarnessRunnerOptions
  extends Omit<StartAgentDeps, 'directories' | 'skills'>, TurnContent {
  readonly store: Store;
  /** Holds a private directory for every Session. */
  readonly directory: string;
}

export interface HarnessRunner extends TurnRunner {
  /** Ends every process; turns that run must be aborted before. Never rejects. */
  close(): Promise<void>;
}

const RUNNING: NewEvent = { type: 'session.status_running' };
const FIRST_RETRY_MS = 1_000;

/**
 * Runs turns by programs that the operator declared (requirements harness.*). A turn that was cut off
 * before its harness was asked starts again; one that was asked is never repeated, but ends with a
 * `session.error` of the code `interrupted`. A pending permission keeps the turn on this process.
 */
export function createHarnessRunner(options: HarnessRunnerOptions): HarnessRunner {
  const { store, clock } = options;
  const directories = createSessionDirectories(options.directory);
  const deps = { ...options, directories };
  const start: ConstructorParameters<typeof AgentPool>[0]['start'] = (session, signal) =>
    startAgent(session, deps, signal);
  const pool = new AgentPool({ store, clock, directories, start });
  return {
    async run(log: TurnLog, signal: AbortSignal) {
      const journal = new TurnJournal(log);
      try {
        await journal.sync();
        const files = new AttachedFiles((id) => options.file(log.session, id));
        await go({ journal, pool, clock, files, signal });
      } catch (thrown) {
        if (!signal.aborted) throw thrown;
      }
    },
    close: () => pool.close(),
  };
}

type Step = 'rest' | 'start' | 'ask' | 'back_off' | 'skip' | 'stop' | 'give_up';

/** Next step as in the model loop, but for steps that only a living process could continue. */
function nextHarnessStep(state: TurnState): Step {
  if (state.phase === 'terminated') return 'rest';
  if (state.isInterrupted && state.phase !== 'idle') return 'stop';
  if (state.phase === 'waiting') return 'rest';
  if (state.phase === 'running') return state.requestId === undefined ? 'ask' : 'give_up';
  const { type } = nextStep(state);
  return type === 'start' || type === 'skip' || type === 'back_off' ? type : 'rest';
}

async function go(context: HarnessContext): Promise<void> {
  const { journal, signal } = context;
  while (!signal.aborted) {
    const step = nextHarnessStep(journal.state);
    if (step === 'rest') return journal.settle();
    await take(step, context);
    await journal.sync();
  }
}

async function take(step: Exclude<Step, 'rest'>, context: HarnessContext): Promise<void> {
  const { journal } = context;
  switch (step) {
    case 'start':
      return void (await journal.append([RUNNING], { status: 'running' }));
    case 'ask':
      return runHarnessTurn(context);
    case 'back_off':
      return backOff(context);
    case 'skip':
      return rest(context, [RUNNING], { type: 'end_turn' });
    case 'stop':
      return rest(context, loose(context), { type: 'end_turn' });
    case 'give_up': {
      const error = toHarnessEvent(new HarnessError('interrupted'), 'exhausted');
      return rest(context, [...loose(context), error], { type: 'retries_exhausted' });
    }
  }
}

async function rest(
  { journal }: HarnessContext,
  events: readonly NewEvent[],
  reason: StopReason,
): Promise<void> {
  await journal.append([...events, idle(reason)], { status: 'idle' });
}

/** Ends the open calls and request of a lost process. A status reaches idle only from running. */
function loose({ journal }: HarnessContext): NewEvent[] {
  const { phase, requestId, uses } = journal.state;
  return [
    ...(phase === 'rescheduled' ? [RUNNING] : []),
    ...openResults(uses),
    ...(requestId === undefined ? [] : [requestEnd(requestId, { isError: true })]),
  ];
}

async function backOff({ journal, clock, signal }: HarnessContext): Promise<void> {
  const ms = FIRST_RETRY_MS * 2 ** Math.max(0, journal.state.failures - 1);
  await interruptible(journal, signal, async (stopped) => {
    await within(whenAborted(stopped), { ms, clock }, () => undefined);
    if (!stopped.aborted) await journal.append([RUNNING], { status: 'running' });
  });
}
