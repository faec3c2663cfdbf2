import { collectSteps, eachInSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { Part, Turn } from '../canonical/canonical.ts';
import type { Capabilities } from './capabilities.ts';

/** Placeholder for a turn of the user without text: several providers refuse an empty one. */
const NOTHING: Turn = { role: 'user', parts: [{ type: 'text', text: '(empty message)' }] };
/** Follows a last turn of the assistant where the model does not continue one by itself. */
const CONTINUE: Turn = { role: 'user', parts: [{ type: 'text', text: 'Continue.' }] };
const BETWEEN = '\n\n';

/** The conversation as a model takes it: no turn is empty, and there is one of the user. */
export function* fitTurns(turns: readonly Turn[], takes: Capabilities): Steps<readonly Turn[]> {
  const said = yield* collectSteps(turns, (turn, at) => {
    const kept = withoutEmptyTexts(turn, takes);
    if (kept.parts.length > 0) return [kept];
    // A user who says nothing asks for an answer all the same.
    const isLast = at === turns.length - 1 && turns[at - 1]?.role === 'assistant';
    return isLast && turn.role === 'user' ? [NOTHING] : [];
  });
  const whole = takes.consecutive_assistant_turns ? said : yield* joinAssistants(said);
  const joined = fitEnd(whole, takes);
  const first = joined.findIndex((turn) => !isSystem(turn));
  if (first < 0) return [toUser(joined)];
  if (joined[first]?.role !== 'assistant' || takes.assistant_first) return joined;
  return [...joined.slice(0, first), NOTHING, ...joined.slice(first)];
}

/** A turn with calls ends by their results. */
function fitEnd(turns: readonly Turn[], takes: Capabilities): readonly Turn[] {
  const at = turns.findLastIndex((turn) => !isSystem(turn));
  const last = turns[at];
  if (last?.role !== 'assistant' || last.parts.some(({ type }) => type === 'tool_call'))
    return turns;
  if (!takes.assistant_last) return [...turns, CONTINUE];
  return takes.blank_texts ? turns : turns.with(at, withoutBlankEnd(last));
}

function withoutBlankEnd(turn: Turn): Turn {
  const at = turn.parts.findLastIndex(({ type }) => type === 'text');
  const part = turn.parts[at];
  if (part?.type !== 'text') return turn;
  return { ...turn, parts: turn.parts.with(at, { ...part, text: part.text.trimEnd() }) };
}

function isSystem({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

/** System texts without a conversation are what the model is asked. */
function toUser(turns: readonly Turn[]): Turn {
  const parts = turns.flatMap((turn) => turn.parts);
  return parts.length > 0 ? { role: 'user', parts } : NOTHING;
}

function withoutEmptyTexts(turn: Turn, { blank_texts }: Capabilities): Turn {
  const isSaid = (part: Part): boolean =>
    part.type !== 'text' || (blank_texts ? part.text : part.text.trim()) !== '';
  const { parts } = turn;
  const kept = parts.filter(isSaid).map((part) => {
    if (part.type !== 'tool_result' || part.content.every(isSaid)) return part;
    return { ...part, content: part.content.filter(isSaid) };
  });
  const isSame = kept.length === parts.length && kept.every((part, at) => part === parts[at]);
  return isSame ? turn : { ...turn, parts: kept };
}

interface JoinedTurn extends Turn {
  readonly parts: Part[];
  hasText: boolean;
}

/** Texts of turns that become one stay apart. */
function* joinAssistants(turns: readonly Turn[]): Steps<Turn[]> {
  const joined: Turn[] = [];
  let last: JoinedTurn | undefined;
  yield* eachInSteps(turns, (turn) => {
    const isNext = turn.role === 'assistant' && last === undefined;
    if (turn.role !== 'assistant') last = undefined;
    if (isNext) last = { ...turn, parts: [], hasText: false };
    if (!last || isNext) joined.push(last ?? turn);
    if (last) goOn(last, turn.parts);
  });
  return joined;
}

function goOn(last: JoinedTurn, parts: readonly Part[]): void {
  let isApart = !last.hasText;
  for (const part of parts) {
    const isText = part.type === 'text';
    last.parts.push(isText && !isApart ? { ...part, text: BETWEEN + part.text } : part);
    isApart ||= isText;
    last.hasText ||= isText;
  }
}
