import type { Clock } from '../../core/time/clock.ts';
import type { NewEvent } from '../../sessions/log/session-event.ts';
import { withContent } from '../turn/attached-files.ts';
import type { AttachedFiles } from '../turn/attached-files.ts';
import { interruptible } from '../turn/interruptible.ts';
import { toServerErrorEvent } from '../tools/server-failure.ts';
import { ToolServerError } from '../tools/tool-server.ts';
import { idle, openResults, requestEnd } from '../turn/turn-events.ts';
import type { StopReason } from '../turn/turn-events.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import type { AgentPool, OpenAgent } from './agent-pool.ts';
import type { HarnessPrompt, HarnessStop } from './harness-agent.ts';
import { HarnessError, toHarnessEvent } from './harness-error.ts';
import { toHistory } from './history.ts';
import { TurnRecorder } from './turn-recorder.ts';
import { whenAborted, within } from './within.ts';

export interface HarnessContext {
  readonly journal: TurnJournal;
  readonly pool: AgentPool;
  readonly clock: Clock;
  readonly files: AttachedFiles;
  /** Leave off without a word. */
  readonly signal: AbortSignal;
}

/** Starts in a row that may fail before the turn is given up. */
const MAX_STARTS = 3;
/** An interrupted harness may end its turn by itself for so long, then its processes. */
const CANCEL_MS = 300;
const INTERRUPT_GRACE_MS = 300;

/**
 * Has the harness run the turn that has begun. Until it is asked, a failure changes nothing and the turn
 * is tried again; from then on it may have had effects, and is not.
 */
export function runHarnessTurn(context: HarnessContext): Promise<void> {
  const { journal, pool, signal } = context;
  return interruptible(journal, signal, async (stopped) => {
    const open = await openAgent(context, stopped);
    if (!open) return;
    try {
      if (stopped.aborted) return await pool.end(open, INTERRUPT_GRACE_MS);
      const told = await toTold(context, open.heard);
      const startId = await begin(context, open);
      const outcome = await ask(context, { open, told }, stopped);
      if (!signal.aborted) await finish(context, { open, startId, outcome });
    } catch (thrown) {
      await pool.end(open);
      throw thrown;
    }
  });
}

async function openAgent(
  { journal, pool }: HarnessContext,
  stopped: AbortSignal,
): Promise<OpenAgent | undefined> {
  try {
    return await pool.open(journal.log.session, journal.state.entries, stopped);
  } catch (thrown) {
    if (stopped.aborted) return undefined;
    if (!(thrown instanceof HarnessError)) throw thrown;
    const isLast = thrown.code === 'unavailable' || journal.state.failures + 1 >= MAX_STARTS;
    await (isLast
      ? journal.append([toHarnessEvent(thrown, 'exhausted'), idle({ type: 'retries_exhausted' })], {
          status: 'idle',
        })
      : journal.append(
          [toHarnessEvent(thrown, 'retrying'), { type: 'session.status_rescheduled' }],
          { status: 'rescheduling' },
        ));
    return undefined;
  }
}

async function begin({ journal }: HarnessContext, open: OpenAgent): Promise<string> {
  const id = journal.log.nextEventId();
  const missing = open.heard === 0 ? open.missingServers : [];
  const error = new ToolServerError('connection', 'the harness goes without this server');
  await journal.append([
    ...missing.map((server) => toServerErrorEvent({ server, error })),
    { type: 'span.model_request_start', id },
  ]);
  return id;
}

/** End of the turn, by the harness or by force: then nothing of it is left running. */
interface Outcome {
  readonly how: HarnessStop | HarnessError | 'stopped';
  readonly said: readonly NewEvent[];
}

async function ask(
  { journal, pool, clock, signal }: HarnessContext,
  { open, told }: { open: OpenAgent; told: Told },
  stopped: AbortSignal,
): Promise<Outcome> {
  const { agent, process, program, scrubber } = open;
  const over = new AbortController();
  const recording = AbortSignal.any([stopped, over.signal]);
  const gone = process.exited;
  const recorder = new TurnRecorder({ journal, scrubber, signal: recording, gone });
  const prompting = agent.prompt({ ...told, recorder });
  const halted = whenAborted(stopped).then((): Outcome['how'] => 'stopped');
  const how = await within<Outcome['how']>(
    Promise.race([prompting, halted]),
    { ms: program.timeouts.turn, clock },
    () => new HarnessError('timed_out'),
  ).catch(toFault);
  over.abort();
  await recorder.settled();
  if (how === 'stopped') {
    const left = prompting.catch(() => undefined);
    await within(
      agent.cancel().then(() => left),
      { ms: CANCEL_MS, clock },
      () => undefined,
    );
    // A client that interrupts waits for it; a gateway that stops gives it its time.
    await (signal.aborted ? pool.end(open) : pool.end(open, INTERRUPT_GRACE_MS));
  } else if (how instanceof HarnessError) await pool.end(open);
  // Text that was not completed is not shown.
  const isWhole = how !== 'stopped' && !(how instanceof HarnessError);
  return { how, said: isWhole ? recorder.close() : [] };
}

function toFault(thrown: unknown): HarnessError {
  if (thrown instanceof HarnessError) return thrown;
  throw thrown;
}

type Told = Omit<HarnessPrompt, 'recorder'>;

/** A fresh process also gets the history; its inputs are all that follow the last answer. */
async function toTold({ journal, files }: HarnessContext, heard: number): Promise<Told> {
  const { entries } = journal.state;
  const from = heard > 0 ? heard : entries.findLastIndex(({ type }) => type === 'answer') + 1;
  const inputs = entries
    .slice(from)
    .flatMap((entry) => (entry.type === 'input' ? entry.event : []));
  return {
    inputs: await withContent(inputs, files),
    history: heard > 0 ? undefined : toHistory(entries.slice(0, from)),
  };
}

async function finish(
  { journal, pool }: HarnessContext,
  { open, startId, outcome: { how, said } }: { open: OpenAgent; startId: string; outcome: Outcome },
): Promise<void> {
  const isEnded = how === 'end_turn' || how === 'refusal' || how === 'cut_short';
  const { turns } = journal.state;
  await journal.append(
    [
      ...said,
      ...openResults(journal.state.uses),
      requestEnd(startId, { isError: !isEnded }),
      ...toFaults(how),
      idle(toReason(how)),
    ],
    { status: 'idle' },
  );
  // The next turn may have begun in the same commit; that one it has not heard.
  const { entries, turnStart } = journal.state;
  const heard = journal.state.turns > turns ? turnStart : entries.length;
  if (isEnded) pool.keep(open, journal.log.session, heard);
  else await pool.end(open);
}

function toFaults(how: Outcome['how']): NewEvent[] {
  if (how instanceof HarnessError) return [toHarnessEvent(how, 'exhausted')];
  if (how !== 'cut_short' && how !== 'cancelled') return [];
  return [toHarnessEvent(new HarnessError(how), 'exhausted')];
}

function toReason(how: Outcome['how']): StopReason {
  if (how instanceof HarnessError) return { type: 'retries_exhausted' };
  return how === 'refusal' ? { type: 'refusal', explanation: null } : { type: 'end_turn' };
}
