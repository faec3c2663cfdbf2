import { usageError } from '../cli-error.ts';
import type { Standing, WaitTarget } from './wait-target.ts';

export type Verdict = 'holds' | 'waits' | 'impossible';

/** Judges the current object; undefined for one that does not exist. */
export type WaitCondition = (standing: Standing | undefined) => Verdict;

/**
 * Reads `completed`, `exists`, `deleted` or `status=STATUS`.
 *
 * @throws CliError `usage` (exit 64) for another word, and for `completed` of a resource
 */
export function toWaitCondition(text: string, { ends }: WaitTarget): WaitCondition {
  if (text === 'exists') return (standing) => (standing ? 'holds' : 'waits');
  if (text === 'deleted') return (standing) => (standing ? 'waits' : 'holds');
  if (text === 'completed' && ends) return isCompleted;
  if (text === 'completed') {
    throw usageError(
      'only runs and Sessions can be completed',
      'use --for status=STATUS or exists',
    );
  }
  const [, status] = /^status=([a-z_]+)$/.exec(text) ?? [];
  if (status === 'succeeded' && ends) return isCompleted;
  if (status !== undefined) return isStatus(status);
  throw usageError(
    `--for ${text} is not a condition`,
    'known: completed, exists, deleted and status=STATUS',
  );
}

/** A Session that waits for a person is at rest: whether it will be completed depends on that answer. */
const isCompleted: WaitCondition = (standing) => {
  if (!standing?.end) return 'impossible';
  if (standing.end.isCompleted) return 'holds';
  return standing.end.isOver ? 'impossible' : 'waits';
};

function isStatus(wanted: string): WaitCondition {
  return (standing) => {
    if (standing === undefined) return 'impossible';
    if (standing.status === wanted) return 'holds';
    return standing.isFinal ? 'impossible' : 'waits';
  };
}
