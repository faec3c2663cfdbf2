import type { Log } from '../core/log.ts';
import { toPublicMessage } from '../core/redact.ts';

const FRAME = /^ {4}at /;

/**
 * Logs what nobody caught, and ends the process with exit code 1. Node.js itself would print the
 * error with all its members: those of a driver hold what it was called with, passwords included.
 * Gives what stops it.
 */
export function reportCrashes(log: Log): () => void {
  const report = (thrown: unknown, origin: string): void => {
    const { message = String(thrown), stack = '' } = thrown instanceof Error ? thrown : {};
    const frames = stack.split('\n').filter((line) => FRAME.test(line));
    log.error('ended by a fault that nothing caught', {
      origin,
      reason: toPublicMessage(message),
      stack: frames.join('\n'),
    });
    log.flush();
    process.exit(1);
  };
  process.on('uncaughtException', report);
  return () => void process.off('uncaughtException', report);
}
