import { collectSteps, eachInSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { Part, Turn } from '../canonical/canonical.ts';
import type { Feature } from '../features.ts';
import type { Capabilities } from './capabilities.ts';

/** Placeholder for a turn of the user without text: several providers refuse an empty one. */
const NOTHING: Turn = { role: 'user', parts: [{ type: 'text', text: '(empty message)' }] };
/** Follows a last turn of the assistant where the model does not continue one by itself. */
const CONTINUE: Turn = { role: 'user', parts: [{ type: 'text', text: 'Continue.' }] };
const BETWEEN = '\n\n';

/**
 * The conversation as a model takes it: no turn is empty, and there is one of the user.
 *
 * @param losses takes the names of turns that became one
 */
export function* fitTurns(
  turns: readonly Turn[],
  takes: Capabilities,
  losses: Set<Feature>,
): Steps<readonly Turn[]> {
  const said = yield* collectSteps(turns, (turn, at) => {
    const kept = withoutEmptyTexts(turn, takes);
    if (kept.parts.length > 0) return [kept];
    // A user who says nothing asks for an answer all the same.
    const isLast = at === turns.length - 1 && turns[at - 1]?.role === 'assistant';
    return isLast && turn.role === 'user' ? [NOTHING] : [];
  });
  const placed = fitSystems(said, takes, losses);
  const single = new Set<Turn['role']>();
  if (!takes.consecutive_assistant_turns) single.add('assistant');
  if (!takes.consecutive_user_turns) single.add('user');
  const joined = fitEnd(single.size > 0 ? yield* joinTurns(placed, single, losses) : placed, takes);
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

/**
 * The conversation with its system texts where the model takes them: chat templates refuse a second one and
 * one after the user, or drop it silently; some know no system texts at all.
 *
 * @param losses notes names of system texts that became one
 */
function fitSystems(
  turns: readonly Turn[],
  takes: Capabilities,
  losses: Set<Feature>,
): readonly Turn[] {
  if (takes.system_texts && takes.system_turns) return turns;
  const systems = turns.filter(isSystem);
  const [only] = systems;
  if (!only || (takes.system_texts && systems.length === 1 && turns[0] === only)) return turns;
  if (systems.some(({ name }) => name !== undefined)) losses.add('participant_names');
  const parts = systems.flatMap((turn) => turn.parts);
  const rest = turns.filter((turn) => !isSystem(turn));
  return takes.system_texts ? [{ role: 'system', parts }, ...rest] : withBeginning(parts, rest);
}

/** The user's first turn begins with the parts. */
function withBeginning(parts: readonly Part[], turns: readonly Turn[]): readonly Turn[] {
  const [first, ...rest] = turns;
  if (first?.role !== 'user') return [{ role: 'user', parts }, ...turns];
  return [{ ...first, parts: [...parts, ...first.parts] }, ...rest];
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
  name?: string;
  hasText: boolean;
}

/**
 * Neighbouring turns of the same role become one, in which their texts stay apart.
 *
 * @param single roles of which no turn may follow another
 */
function* joinTurns(
  turns: readonly Turn[],
  single: ReadonlySet<Turn['role']>,
  losses: Set<Feature>,
): Steps<Turn[]> {
  const joined: Turn[] = [];
  let last: JoinedTurn | undefined;
  yield* eachInSteps(turns, (turn) => {
    const isNext = last?.role !== turn.role;
    if (isNext) last = single.has(turn.role) ? { ...turn, parts: [], hasText: false } : undefined;
    if (!last || isNext) joined.push(last ?? turn);
    if (!last) return;
    if (last.name !== turn.name) {
      losses.add('participant_names');
      delete last.name;
    }
    goOn(last, turn.parts);
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
