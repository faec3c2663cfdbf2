import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { Protocol } from '../registry.ts';
import type { CanonicalRequest, OpaquePart, Part, Tool, Turn } from '../canonical/canonical.ts';

type Fitted = Pick<CanonicalRequest, 'turns' | 'tools'>;

/**
 * The request without the parts that only another protocol understands.
 *
 * @param lose takes each part that is left out
 */
export function* withoutForeign(
  { turns, tools }: Fitted,
  protocol: Protocol,
  lose: (part: OpaquePart) => void,
): Steps<Fitted> {
  const isKept = (part: Part | Tool): boolean => {
    if (part.type !== 'opaque' || part.origin === protocol) return true;
    lose(part);
    return false;
  };
  const kept = yield* collectSteps(turns, (turn) => [filterTurn(turn, isKept)]);
  return { turns: kept, tools: tools.filter(isKept) };
}

function filterTurn(turn: Turn, isKept: (part: Part) => boolean): Turn {
  const parts = turn.parts.filter(isKept).map((part) => {
    if (part.type !== 'tool_result') return part;
    const content = part.content.filter(isKept);
    return content.length === part.content.length ? part : { ...part, content };
  });
  const isSame =
    parts.length === turn.parts.length && parts.every((part, at) => part === turn.parts[at]);
  return isSame ? turn : { ...turn, parts };
}
