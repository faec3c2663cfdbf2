import type { Part, Turn } from '../canonical.ts';
import type { Capabilities } from './capabilities.ts';

/** Stands for the words of a user who said nothing: several providers refuse an empty text. */
const NOTHING: Turn = { role: 'user', parts: [{ type: 'text', text: '(empty message)' }] };
const BETWEEN = '\n\n';

/** The conversation as a model takes it: no turn is empty, and there is one of the user. */
export function fitTurns(turns: readonly Turn[], takes: Capabilities): readonly Turn[] {
  const said = turns.map(withoutEmptyTexts).filter(({ parts }) => parts.length > 0);
  const joined = takes.consecutive_assistant_turns ? said : joinAssistants(said);
  const first = joined.findIndex((turn) => !isSystem(turn));
  if (first < 0) return [toUser(joined)];
  if (joined[first]?.role !== 'assistant' || takes.assistant_first) return joined;
  return [...joined.slice(0, first), NOTHING, ...joined.slice(first)];
}

function isSystem({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

/** System texts without a conversation are what the model is asked. */
function toUser(turns: readonly Turn[]): Turn {
  const parts = turns.flatMap((turn) => turn.parts);
  return parts.length > 0 ? { role: 'user', parts } : NOTHING;
}

function withoutEmptyTexts(turn: Turn): Turn {
  const parts = turn.parts.filter((part) => part.type !== 'text' || part.text !== '');
  return parts.length === turn.parts.length ? turn : { ...turn, parts };
}

function joinAssistants(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.role === 'assistant' && last?.role === 'assistant')
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...behind(last, turn)] };
    else joined.push(turn);
  }
  return joined;
}

/** Parts of a turn that goes on behind another one, their texts apart from those of that one. */
function behind(last: Turn, { parts }: Turn): readonly Part[] {
  const isText = ({ type }: Part): boolean => type === 'text';
  const at = parts.findIndex(isText);
  const first = parts[at];
  if (first?.type !== 'text' || !last.parts.some(isText)) return parts;
  return parts.with(at, { ...first, text: BETWEEN + first.text });
}
