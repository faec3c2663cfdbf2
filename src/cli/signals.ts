import { CliError } from './cli-error.ts';
import type { Failure } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { toFailure } from './failure.ts';
import type { CliIo } from './io.ts';

/** Milliseconds by which commands that know --timeout themselves may be first, with words of their own. */
const MARGIN_MS = 1_000;
/** Milliseconds from the end of the time until a command that does not end by itself is left. */
const GRACE_MS = 2_000;
/** Codes of failures that only say that the command was ended. */
const ENDED: ReadonlySet<string> = new Set(['aborted', 'interrupted']);

export interface WatchedSignals {
  /** Aborted by the first signal, and by the end of the time. */
  readonly signal: AbortSignal;
  /** 130 or 143 once a signal came, 8 once the time was up. */
  exitCode(): number | undefined;
  /** The failure in place of one that only says that the command was ended, once the time was up. */
  rename(failure: Failure): Failure;
  /** Rejects where a command does not end by itself with its time. */
  readonly stuck: Promise<never>;
  isStuck(): boolean;
  dispose(): void;
}

/**
 * The first signal asks the command to finish its requests; the second one ends the process.
 *
 * @param limitMs time of the whole command; default: as long as it takes
 */
export function watchSignals(
  { signals, exit }: Pick<CliIo, 'signals' | 'exit'>,
  limitMs?: number,
): WatchedSignals {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let isOver = false;
  let isStuck = false;
  let leave: (reason: CliError) => void = () => undefined;
  const stuck = new Promise<never>((_resolve, reject) => (leave = reject));
  stuck.catch(() => undefined);
  const end = (): void => {
    if (exitCode !== undefined) return;
    isOver = true;
    exitCode = EXIT.unknown_outcome.code;
    controller.abort();
    timer = setTimeout(() => {
      isStuck = true;
      leave(timeUp(limitMs ?? 0));
    }, GRACE_MS);
  };
  let timer = limitMs === undefined ? undefined : setTimeout(end, limitMs + MARGIN_MS);
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
    rename: (failure) =>
      isOver && ENDED.has(failure.code) ? toFailure(timeUp(limitMs ?? 0)) : failure,
    stuck,
    isStuck: () => isStuck,
    dispose() {
      clearTimeout(timer);
      signals.off('SIGINT', onInterrupt);
      signals.off('SIGTERM', onTerminate);
    },
  };
}

function timeUp(ms: number): CliError {
  return new CliError({
    code: 'timeout',
    exit: 'unknown_outcome',
    message: `gave up after ${ms / 1_000} s, as --timeout says`,
    hint: 'what was sent may have taken effect; look before you repeat it, or raise --timeout',
  });
}
