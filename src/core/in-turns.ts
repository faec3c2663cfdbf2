/** Work that breaks off at every `yield`, where others may have their turn, and returns its result. */
export type Steps<T> = Generator<void, T>;

/** Work on fewer bytes takes some milliseconds at most, and needs no turns. */
export const LONG_BYTES = 64 * 1024;

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Runs steps to their end: at once where there is but one, else with a break at every `yield`, in which
 * others get their turn.
 */
export function inTurns<T>(steps: Steps<T>): T | Promise<T> {
  const first = steps.next();
  return first.done ? first.value : runRest(steps);
}

async function runRest<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    await new Promise(setImmediate);
    const step = steps.next();
    if (step.done) return step.value;
  }
}
