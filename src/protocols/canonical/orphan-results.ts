import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { Part, Turn } from './canonical.ts';

/** Results of a conversation's tools, by where the client put them. */
export type ResultPaths = ReadonlyMap<Part, string>;

/**
 * Turns without orphan results, whose calls do not precede them: every provider refuses those.
 *
 * @param lose takes the path of each result that is left out
 */
export function withoutOrphans(
  turns: readonly Turn[],
  paths: ResultPaths,
  lose: (path: string) => void,
): Steps<Turn[]> {
  const called = new Set<string>();
  const isKept = (part: Part): boolean => {
    if (part.type === 'tool_call') called.add(part.id);
    if (part.type !== 'tool_result' || called.has(part.callId)) return true;
    lose(paths.get(part) ?? 'tool_result');
    return false;
  };
  return collectSteps(turns, (turn) => {
    const parts = turn.parts.filter(isKept);
    if (parts.length === turn.parts.length) return [turn];
    return parts.length > 0 ? [{ ...turn, parts }] : [];
  });
}
