import { createHash } from 'node:crypto';
import { collectSteps, eachInSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { Part, Turn } from '../canonical/canonical.ts';
import { otherId } from '../canonical/unique-ids.ts';

const PREFIX = 'call_';

/**
 * Turns whose calls have ids of their own, of at most `length` characters. A shorter id is a digest of the
 * longer one: the same for a call and its result and in every later request, and unlike any other.
 */
export function* fitToolIds(turns: readonly Turn[], length: number | null): Steps<readonly Turn[]> {
  const own = (yield* hasDoubles(turns)) ? yield* withoutDoubles(turns) : turns;
  if (length === null) return own;
  return yield* collectSteps(own, (turn) => [
    turn.parts.some((part) => idOf(part).length > length)
      ? { ...turn, parts: turn.parts.map((part) => withFitting(part, length)) }
      : turn,
  ]);
}

function* hasDoubles(turns: readonly Turn[]): Steps<boolean> {
  const ids = new Set<string>();
  let isDouble = false;
  yield* eachInSteps(turns, ({ parts }) => {
    for (const part of parts) {
      if (part.type !== 'tool_call') continue;
      isDouble ||= ids.has(part.id);
      ids.add(part.id);
    }
  });
  return isDouble;
}

/**
 * Servers that count calls from zero in each answer repeat ids. Results belong to the calls of the last
 * turn that has any, in their order: a call before them was interrupted.
 */
function* withoutDoubles(turns: readonly Turn[]): Steps<readonly Turn[]> {
  const counts = new Map<string, number>();
  const pending = new Map<string, string[]>();
  const rename = (part: Part): Part => {
    if (part.type === 'tool_call') {
      const { id } = part;
      const count = counts.get(id) ?? 0;
      const own = count === 0 ? id : otherId(id, String(count));
      counts.set(id, count + 1);
      const before = pending.get(id);
      if (before) before.push(own);
      else pending.set(id, [own]);
      return own === id ? part : { ...part, id: own };
    }
    const own = part.type === 'tool_result' ? pending.get(part.callId)?.shift() : undefined;
    return own === undefined ? part : withId(part, own);
  };
  return yield* collectSteps(turns, (turn) => {
    if (turn.parts.some(({ type }) => type === 'tool_call')) pending.clear();
    return [{ ...turn, parts: turn.parts.map(rename) }];
  });
}

function idOf(part: Part): string {
  if (part.type === 'tool_call') return part.id;
  return part.type === 'tool_result' ? part.callId : '';
}

function withId(part: Part, id: string): Part {
  if (part.type === 'tool_call') return { ...part, id };
  return part.type === 'tool_result' ? { ...part, callId: id } : part;
}

function withFitting(part: Part, length: number): Part {
  const id = idOf(part);
  if (id.length <= length) return part;
  const digest = createHash('sha256').update(id).digest('base64url');
  return withId(part, `${PREFIX}${digest}`.slice(0, length));
}
