import type { Log } from '../../core/log.ts';
import { toPublicMessage } from '../../core/redact.ts';

const FRAME = /^ {4}at /;
/** Longest time between an exception that nothing caught and the end of the process. */
const END_WITHIN_MS = 10_000;

/** Faults that no code foresaw, in this process. */
export interface CrashReports {
  /** True once an exception that nothing caught ends the process. */
  readonly isCrashed: boolean;
  /**
   * Resolves at an exception that nothing caught: the caller stops serving, and the process ends
   * within 10 seconds. Without a caller it ends at once.
   */
  untilCrashed(): Promise<void>;
  /** Runs for each rejection that nothing handled. */
  onRejection(listener: () => void): void;
  stop(): void;
}

/**
 * Logs uncaught errors. An exception ends the process with exit code 1, since its state may be
 * inconsistent. A rejection ends nothing, since only its own chain of promises stops there.
 * Node.js itself would print the error with all its members: those of a driver hold its arguments,
 * passwords included.
 */
export function reportCrashes(log: Log): CrashReports {
  let isCrashed = false;
  let leave: (() => void) | undefined;
  let count = (): void => undefined;

  const onException = (thrown: unknown, origin: string): void => {
    log.error('ended by a fault that nothing caught', { origin, ...toFields(thrown) });
    log.flush();
    if (!leave || isCrashed) process.exit(1);
    isCrashed = true;
    // Independent of any clock: the rest of this process may hang.
    setTimeout(() => process.exit(1), END_WITHIN_MS).unref();
    leave();
  };
  const onRejection = (reason: unknown): void => {
    const origin = 'unhandledRejection';
    log.error('a promise failed that nothing waited for', { origin, ...toFields(reason) });
    log.flush();
    count();
  };
  process.on('uncaughtException', onException);
  process.on('unhandledRejection', onRejection);

  return {
    get isCrashed() {
      return isCrashed;
    },
    untilCrashed: () => new Promise((resolve) => (leave = resolve)),
    onRejection: (listener) => void (count = listener),
    stop() {
      process.off('uncaughtException', onException);
      process.off('unhandledRejection', onRejection);
    },
  };
}

function toFields(thrown: unknown): { reason: string; stack: string } {
  const { message, stack = '' } = thrown instanceof Error ? thrown : { message: textOf(thrown) };
  const frames = stack.split('\n').filter((line) => FRAME.test(line));
  return { reason: toPublicMessage(message), stack: frames.join('\n') };
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'a value without a text';
  }
}
