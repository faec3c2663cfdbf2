import type { Clock } from '../../core/time/clock.ts';
import { reasonOf } from '../../core/errors.ts';
import type { SignalOutcome } from '../../core/process/runtime-file.ts';
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
  /** Neither rejects. */
  reload(): Promise<ActionResult>;
  restart(): Promise<ActionResult>;
  note(outcome: SignalOutcome): Promise<void>;
}

type Action = SignalOutcome['action'];

/** An outcome without its times. */
export type ActionResult = Omit<SignalOutcome, 'action' | 'begun' | 'at'>;

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
    const begun = clock.now();
    const result = await options[action]();
    await note({ action, begun, at: clock.now(), ...result });
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
