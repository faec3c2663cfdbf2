import type { Clock } from '../../core/time/clock.ts';
import { isStoreTrouble } from '../../store/is-store-trouble.ts';

/** Pause before the first further try, in ms; each one is twice as long. */
const AGAIN_MS = 1_000;
const MAX_AGAIN_MS = 30_000;

export interface WritingLater {
  readonly clock: Clock;
  /** Receives an error that no later time mends. */
  readonly report: (error: unknown) => void;
  /** Runs once it is written, or cannot be. */
  readonly onEnd: () => void;
}

/** Calls `write` again until the store is well. */
export function writeLater(
  write: () => Promise<void>,
  writing: WritingLater,
  pauseMs = AGAIN_MS,
): void {
  const { clock, report, onEnd } = writing;
  const onFailure = (error: unknown): void => {
    if (isStoreTrouble(error))
      return writeLater(write, writing, Math.min(2 * pauseMs, MAX_AGAIN_MS));
    report(error);
    onEnd();
  };
  clock.setTimeout(() => void write().then(onEnd, onFailure), pauseMs);
}
