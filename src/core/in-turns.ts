/**
 * Runs steps to their end: at once where there is but one, else with a break at every `yield`, in which
 * others get their turn.
 */
export function inTurns<T>(steps: Generator<void, T>): T | Promise<T> {
  const first = steps.next();
  return first.done ? first.value : runRest(steps);
}

async function runRest<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    await new Promise(setImmediate);
    const step = steps.next();
    if (step.done) return step.value;
  }
}
