import { usageError } from '../cli-error.ts';
import type { Standing, WaitTarget } from './wait-target.ts';

export type Verdict = 'holds' | 'waits' | 'impossible';

/** Judges the current object; undefined for one that does not exist. */
export type WaitCondition = (standing: Standing | undefined) => Verdict;

/**
 * Reads `completed`, `exists`, `deleted` or `status=STATUS`.
 *
 * @throws CliError `usage` (exit 64) for another word, and for `completed` of anything but a run
 */
export function toWaitCondition(text: string, { isRun }: WaitTarget): WaitCondition {
  if (text === 'exists') return (standing) => (standing ? 'holds' : 'waits');
  if (text === 'deleted') return (standing) => (standing ? 'waits' : 'holds');
  if (text === 'completed' && isRun) return isStatus('succeeded');
  if (text === 'completed') {
    throw usageError('only runs can be completed', 'for a Session, use --for status=idle');
  }
  const [, status] = /^status=([a-z_]+)$/.exec(text) ?? [];
  if (status !== undefined) return isStatus(status);
  throw usageError(
    `--for ${text} is not a condition`,
    'known: completed, exists, deleted and status=STATUS',
  );
}

function isStatus(wanted: string): WaitCondition {
  return (standing) => {
    if (standing === undefined) return 'impossible';
    if (standing.status === wanted) return 'holds';
    return standing.isFinal ? 'impossible' : 'waits';
  };
}
