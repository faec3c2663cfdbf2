import type { Clock } from '../../core/time/clock.ts';
import type { SignalOutcome } from './first-start.ts';
import { watchFiles } from './watch-files.ts';

export interface SignalsOptions {
  readonly clock: Clock;
  /** Files whose change is a SIGHUP, too. */
  readonly watched: readonly string[];
  readonly cwd: string;
  /** Gives why it was refused, or null; never rejects. */
  reload(): Promise<string | null>;
  restart(): Promise<string | null>;
  note(outcome: SignalOutcome): Promise<void>;
}

type Action = SignalOutcome['action'];

/** SIGHUP reloads, SIGUSR2 restarts; one at a time. Returns the function that stops it. */
export function listenForSignals(options: SignalsOptions): () => void {
  const { clock, watched, cwd, note } = options;
  let running = Promise.resolve();
  const waiting = new Set<Action>();
  const act = async (action: Action, former: Promise<void>): Promise<void> => {
    await former;
    waiting.delete(action);
    const error = await options[action]();
    await note({ action, at: clock.now(), error });
  };
  const queue = (action: Action): void => {
    // One that waits will read what is there by then.
    if (waiting.has(action)) return;
    waiting.add(action);
    running = act(action, running);
  };
  const onHangUp = (): void => queue('reload');
  const onRestart = (): void => queue('restart');
  process.on('SIGHUP', onHangUp);
  process.on('SIGUSR2', onRestart);
  const watching =
    watched.length > 0 ? watchFiles(watched, { cwd, clock, onChange: onHangUp }) : undefined;
  return () => {
    process.off('SIGHUP', onHangUp);
    process.off('SIGUSR2', onRestart);
    watching?.close();
  };
}
