import type { TurnJournal } from './turn-journal.ts';

/** Does work that ends early when the client interrupts, or `signal` is aborted. */
export async function interruptible<T>(
  journal: TurnJournal,
  signal: AbortSignal,
  work: (stopped: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const look = async (): Promise<void> => {
    await journal.sync();
    if (journal.state.isInterrupted) stop.abort();
  };
  // A store failure rejects the next append.
  const onInput = (): void => void look().catch(() => undefined);
  const forget = journal.log.onInput(onInput);
  onInput();
  try {
    return await work(stop.signal);
  } finally {
    forget();
    signal.removeEventListener('abort', onAbort);
  }
}
