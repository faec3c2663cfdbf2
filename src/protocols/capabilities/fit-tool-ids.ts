import { createHash } from 'node:crypto';
import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { Part, Turn } from '../canonical/canonical.ts';

const PREFIX = 'call_';

/**
 * Turns whose calls have ids of at most `length` characters. A shorter id is a digest of the longer
 * one: the same for a call and its result and in every later request, and unlike any other.
 */
export function* fitToolIds(turns: readonly Turn[], length: number | null): Steps<readonly Turn[]> {
  if (length === null) return turns;
  return yield* collectSteps(turns, (turn) => [
    turn.parts.some((part) => idOf(part).length > length)
      ? { ...turn, parts: turn.parts.map((part) => withFitting(part, length)) }
      : turn,
  ]);
}

function idOf(part: Part): string {
  if (part.type === 'tool_call') return part.id;
  return part.type === 'tool_result' ? part.callId : '';
}

function withFitting(part: Part, length: number): Part {
  const id = idOf(part);
  if (id.length <= length) return part;
  const digest = createHash('sha256').update(id).digest('base64url');
  const short = `${PREFIX}${digest}`.slice(0, length);
  if (part.type === 'tool_call') return { ...part, id: short };
  return part.type === 'tool_result' ? { ...part, callId: short } : part;
}
