import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from '../stage.ts';

/** What a load does between two looks at whether it is over, and the pause before it does so again. */
export interface Repeated {
  readonly until: AbortSignal;
  /** On average, in milliseconds. */
  readonly everyMs: number;
  work(): Promise<void>;
}

/** Does it again and again until the load is over. */
export async function repeat({ random }: Stage, { until, everyMs, work }: Repeated): Promise<void> {
  while (!until.aborted) {
    await work();
    await sleep(everyMs * (0.5 + random.next()), undefined, { signal: until }).catch(
      () => undefined,
    );
  }
}
