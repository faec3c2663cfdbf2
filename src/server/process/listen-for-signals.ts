import type { Clock } from '../../core/time/clock.ts';
import type { SignalOutcome } from './first-start.ts';
import { reasonOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { watchFiles } from './watch-files.ts';

export interface SignalsOptions {
  readonly clock: Clock;
  /** Files whose change is a SIGHUP, too. Absent: none, now or later. */
  readonly watched?: readonly string[] | undefined;
  readonly cwd: string;
  readonly log: Pick<Log, 'warn'>;
  /** Signals that came before; see {@link noteEarlySignals}. */
  readonly early: readonly Action[];
  /** Nothing is done before. */
  readonly ready: Promise<void>;
  /** Gives why it was refused, or null; never rejects. */
  reload(): Promise<string | null>;
  restart(): Promise<string | null>;
  note(outcome: SignalOutcome): Promise<void>;
}

type Action = SignalOutcome['action'];

/** Signals that came while nothing could be done yet. */
export interface EarlySignals {
  /** Ends the noting, and gives the noted actions. */
  take(): readonly Action[];
}

/** Notes SIGHUP and SIGUSR2 of a gateway that starts, which would end it otherwise. */
export function noteEarlySignals(): EarlySignals {
  const noted = new Set<Action>();
  const onHangUp = (): void => void noted.add('reload');
  const onRestart = (): void => void noted.add('restart');
  process.on('SIGHUP', onHangUp);
  process.on('SIGUSR2', onRestart);
  return {
    take() {
      process.off('SIGHUP', onHangUp);
      process.off('SIGUSR2', onRestart);
      return [...noted];
    },
  };
}

export interface Signals {
  /** Watches these files in place of the former ones, where files are watched. */
  follow(files: readonly string[]): void;
  stop(): void;
}

/** SIGHUP reloads, SIGUSR2 restarts; one at a time. */
export function listenForSignals(options: SignalsOptions): Signals {
  const { clock, watched, cwd, log, note } = options;
  let running = options.ready;
  const waiting = new Set<Action>();
  const act = async (action: Action, former: Promise<void>): Promise<void> => {
    await former;
    waiting.delete(action);
    const error = await options[action]();
    await note({ action, at: clock.now(), error });
  };
  const queue = (action: Action): void => {
    // A pending action reads the files as they are by then.
    if (waiting.has(action)) return;
    waiting.add(action);
    running = act(action, running);
  };
  const onHangUp = (): void => queue('reload');
  const onRestart = (): void => queue('restart');
  process.on('SIGHUP', onHangUp);
  process.on('SIGUSR2', onRestart);
  options.early.forEach(queue);
  const watching = watched && watchFiles(watched, { cwd, clock, onChange: onHangUp });
  return {
    follow(files) {
      try {
        watching?.follow(files);
      } catch (error) {
        const reason = reasonOf(error);
        log.warn(
          'the files of the configuration cannot all be watched; send SIGHUP after a change',
          {
            reason,
          },
        );
      }
    },
    stop() {
      process.off('SIGHUP', onHangUp);
      process.off('SIGUSR2', onRestart);
      watching?.close();
    },
  };
}
