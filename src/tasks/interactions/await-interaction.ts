import type { Buffer } from 'node:buffer';
import type { Clock } from '../../core/time/clock.ts';
import type { Call } from '../../inference/types.ts';
import { isRunning } from '../../protocols/interactions/interaction.ts';
import type { Interaction } from '../../protocols/interactions/interaction.ts';
import type { Entry } from '../../store/store.ts';
import type { TaskDeps, TrackedTasks } from '../task-family.ts';
import { toShown } from './interaction-record.ts';
import type { InteractionRecord, SeenInteraction } from './interaction-record.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

export interface Waiting {
  readonly tasks: Pick<TrackedTasks<InteractionRecord, SeenInteraction>, 'lookUp'>;
  readonly deps: Pick<TaskDeps, 'inference' | 'interactionWaitMs'>;
}

/**
 * Polls running work until it is no longer running, the wait is over, the client is gone or the gateway stops.
 * Returns the last state that was seen, as a client may see it; undefined when no look succeeded. A look that
 * fails is no reason to give up: the work continues all the same.
 */
export async function awaitInteraction(
  entry: Entry<InteractionRecord>,
  { request }: Call,
  { tasks, deps }: Waiting,
): Promise<{ seen: Interaction; body: Buffer } | undefined> {
  const { clock, active } = deps.inference;
  const until = request.startedAt + deps.interactionWaitMs;
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  const stop = { shutDown: leave };
  active.add(stop);
  const forget = request.client.onGone(leave);
  let last: { seen: Interaction; body: Buffer } | undefined;
  try {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
      const left = until - clock.monotonic();
      if (left <= 0 || leaving.signal.aborted || request.client.gone) return last;
      await sleep(clock, Math.min(pause, left), leaving.signal);
      const looked = await tasks.lookUp(entry, { signal: leaving.signal }).catch(() => undefined);
      const look = looked?.seen;
      if (typeof look === 'object') last = { seen: look.seen, body: toShown(entry.value, look) };
      if (last && !isRunning(last.seen.status)) return last;
    }
  } finally {
    active.delete(stop);
    forget();
  }
}

function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimeout(done, ms);
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });
}
