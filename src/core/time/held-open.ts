const HOLD_MS = 60_000;

/**
 * Keeps the process alive until the work is done: timers of a clock do not, and it would end in the middle
 * where the work waits for nothing else.
 */
export async function heldOpen<T>(work: Promise<T>): Promise<T> {
  const hold = setInterval(() => undefined, HOLD_MS);
  try {
    return await work;
  } finally {
    clearInterval(hold);
  }
}
