import type { Clock, Timer } from '../../core/time/clock.ts';

/** A difference between wall clock and elapsed time up to here is drift, beyond it a step. */
const STEP_MS = 1_000;
const LOOK_MS = 1_000;

/** Readings of the two clocks of a process at one moment. */
export interface Moment {
  /** Milliseconds since epoch. */
  readonly wall: number;
  /** Milliseconds that never step. */
  readonly elapsed: number;
  /** Elapsed time at which the last step of the wall clock was noticed; negative infinity before one. */
  readonly steppedAt: number;
}

export interface StepWatch {
  look: () => Moment;
  /** Stops looking by itself. */
  close(): void;
}

/** Looks at the clocks, by itself once a second, so that it is known when a step was. */
export function createStepWatch(clock: Clock): StepWatch {
  let offset = clock.now() - clock.monotonic();
  let steppedAt = -Infinity;
  const look = (): Moment => {
    const [wall, elapsed] = [clock.now(), clock.monotonic()];
    if (Math.abs(wall - elapsed - offset) > STEP_MS) steppedAt = elapsed;
    offset = wall - elapsed;
    return { wall, elapsed, steppedAt };
  };

  let timer: Timer;
  const wait = (): void => {
    timer = clock.setTimeout(() => {
      look();
      wait();
    }, LOOK_MS);
  };
  wait();
  return { look, close: () => timer.cancel() };
}
