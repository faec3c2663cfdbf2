import { EXIT } from './exit-codes.ts';
import type { CliIo } from './io.ts';

export interface WatchedSignals {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** 130 or 143 once a signal came. */
  exitCode(): number | undefined;
  dispose(): void;
}

/** The first signal asks the command to finish its requests; the second one ends the process. */
export function watchSignals({ signals, exit }: Pick<CliIo, 'signals' | 'exit'>): WatchedSignals {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const stop = (code: number) => () => {
    if (exitCode !== undefined) exit(code);
    exitCode = code;
    controller.abort();
  };
  const onInterrupt = stop(EXIT.interrupted.code);
  const onTerminate = stop(EXIT.terminated.code);
  signals.on('SIGINT', onInterrupt);
  signals.on('SIGTERM', onTerminate);
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    dispose() {
      signals.off('SIGINT', onInterrupt);
      signals.off('SIGTERM', onTerminate);
    },
  };
}
